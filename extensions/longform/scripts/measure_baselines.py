"""Oracle and Random Chance."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified_longform.config import MovieSet
    from verified_longform.experiment import measure_baselines, test_rows
    from verified_longform.grid import Grid

    params = snakemake.params
    rows = test_rows(snakemake.input.rows, received(MovieSet, params.movies).test_split)
    grid = received(Grid, params.grid)
    metrics = measure_baselines(rows, grid, params.lengths, params.iou_cmp, params.chance_runs, params.seed)
    write_json(snakemake.output.metrics, metrics)
