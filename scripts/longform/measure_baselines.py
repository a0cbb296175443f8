"""Oracle and Random Chance (see rules/longform_models.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.benchmark.mad.experiment import make_grid, measure_baselines, measuring, test_rows
    from verified.io.jsonl import write_json

    settings = snakemake.params.settings
    rows = test_rows(snakemake.input.rows, snakemake.params.movies["test_split"])
    write_json(
        snakemake.output.metrics,
        measure_baselines(
            rows,
            make_grid(settings["grid"]),
            measuring(settings),
            settings["runs"],
        ),
    )
