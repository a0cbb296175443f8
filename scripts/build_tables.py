"""Write all tables of a run (see rules/tables.smk)."""

from verified.common.job import job

with job(snakemake):
    from pathlib import Path

    from verified.tables.collect import Collection
    from verified.tables.evaluator import write_evaluator
    from verified.tables.outcomes import write_outcomes
    from verified.tables.reproduction import read_printed, write_reproduction
    from verified.tables.validity import write_validity
    from verified.tables.write import write_tables

    given, settings = snakemake.input, snakemake.params.settings
    folder = Path(snakemake.output.tables)
    collection = Collection(
        given.metrics,
        [*given.statistics, *given.validity, *given.studies],
        settings["retrieval"]["bootstrap"],
        settings["seed"],
    )
    project = Path(given.printed).parent.parent
    printed = read_printed(Path(given.printed))
    provenance = write_tables(folder, settings, collection, project, printed)
    write_reproduction(folder, settings, collection, printed, provenance)
    if given.outcomes:
        write_outcomes(folder, settings, given.outcomes, provenance)
    if given.validations:
        write_evaluator(folder, settings, given.validations, given.ablations, provenance)
    if given.validity:
        write_validity(folder, settings, collection, provenance)
