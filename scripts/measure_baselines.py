"""Oracle and Random Chance (see rules/longform_models.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import write_json
    from verified.longform.experiment import make_grid, measure_baselines, measuring, test_rows

    settings = snakemake.params.settings
    rows = test_rows(snakemake.input.rows, snakemake.params.films["test_split"])
    write_json(
        snakemake.output.metrics,
        measure_baselines(
            rows,
            make_grid(settings["grid"]),
            measuring(settings),
            settings["runs"],
        ),
    )
