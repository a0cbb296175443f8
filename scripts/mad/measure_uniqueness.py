"""Sentences that are unique in their film by METEOR (see rules/longform_statistics.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.benchmark.mad.uniqueness import measure_uniqueness
    from verified.io.jsonl import read_jsonl, write_json

    films: dict[str, list[str]] = {}
    for row in read_jsonl(snakemake.input.rows):
        films.setdefault(row["film"], []).append(row["sentence"])
    params = snakemake.params
    write_json(snakemake.output[0], measure_uniqueness(films, params.wordnet, params.direction, params.processes))
