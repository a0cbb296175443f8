"""Oracle and Random Chance."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified_longform.config import MovieSet
    from verified_longform.experiment import measure_baselines, test_rows
    from verified_longform.settings import Testing, make_grid

    testing, movies = Testing(**snakemake.params.settings), received(MovieSet, snakemake.params.movies)
    rows = test_rows(snakemake.input.rows, movies.test_split)
    write_json(snakemake.output.metrics, measure_baselines(rows, make_grid(testing.grid), testing))
