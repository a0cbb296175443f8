"""Oracle and Random Chance (see rules/longform_models.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.benchmark.mad.experiment import measure_baselines, test_rows
    from verified.benchmark.mad.settings import Testing, make_grid
    from verified.config.longform import MovieSet
    from verified.io.jsonl import write_json

    testing, movies = Testing(**snakemake.params.settings), MovieSet(**snakemake.params.movies)
    rows = test_rows(snakemake.input.rows, movies.test_split)
    write_json(snakemake.output.metrics, measure_baselines(rows, make_grid(testing.grid), testing))
