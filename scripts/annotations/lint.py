"""Lint the annotations of all splits; errors in annotations made here stop the run (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.lint import lint, table
    from verified.config.annotations import Lint
    from verified.config.params import received
    from verified.errors import InputError
    from verified.io.jsonl import write_json

    severities = received(Lint, snakemake.params.lint)
    reports = [lint(path, severities) for path in snakemake.input.annotations]
    for report in reports:
        log.info("%s", table(report))
    failed = [report["file"] for report in reports if not report["passed"]]
    if failed and snakemake.params.annotated_here:
        raise InputError(
            f"the lint found errors in {', '.join(failed)}",
            remedy=f"see {snakemake.log[0]}; severities are in annotations.lint of the configuration",
        )
    write_json(snakemake.output[0], reports)
