"""Sentences that are unique in their film by METEOR (see rules/longform_statistics.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl, write_json
    from verified.longform.uniqueness import measure_uniqueness

    films: dict[str, list[str]] = {}
    for row in read_jsonl(snakemake.input.rows):
        films.setdefault(row["film"], []).append(row["sentence"])
    params = snakemake.params
    write_json(snakemake.output[0], measure_uniqueness(films, params.wordnet, params.direction, params.processes))
