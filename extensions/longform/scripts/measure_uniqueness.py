"""Sentences that are unique in their movie by METEOR."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_jsonl, write_json
    from verified_longform.uniqueness import measure_uniqueness

    movies: dict[str, list[str]] = {}
    for row in read_jsonl(snakemake.input.rows):
        movies.setdefault(row["movie"], []).append(row["sentence"])
    params = snakemake.params
    write_json(snakemake.output[0], measure_uniqueness(movies, params.wordnet, params.processes))
