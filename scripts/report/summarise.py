"""Write the summary of the report's front page and the list of verdicts (see rules/report.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.report.summary import write_summary

    inputs, outputs = snakemake.input, snakemake.output
    write_summary(
        Path(inputs.tables),
        Path(outputs.summary),
        Path(outputs.verdicts),
        snakemake.params.leading,
        snakemake.params.warning,
    )
