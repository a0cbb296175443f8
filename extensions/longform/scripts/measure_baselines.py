"""Oracle and Random Chance."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified_longform.config import GridSettings, MovieSet
    from verified_longform.experiment import make_grid, measure_baselines, test_rows

    params = snakemake.params
    rows = test_rows(snakemake.input.rows, received(MovieSet, params.movies).test_split)
    grid = make_grid(received(GridSettings, params.grid))
    metrics = measure_baselines(rows, grid, params.lengths, params.iou_cmp, params.chance_runs, params.seed)
    write_json(snakemake.output.metrics, metrics)
