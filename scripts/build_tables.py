"""Write all tables of a run (see rules/tables.smk)."""

from verified.common.job import job

with job(snakemake):
    from pathlib import Path

    from verified.tables.collect import Collection
    from verified.tables.validity import write_validity
    from verified.tables.write import write_tables

    given, settings = snakemake.input, snakemake.params.settings
    folder = Path(snakemake.output.tables)
    collection = Collection(
        given.metrics, [*given.statistics, *given.validity], settings["retrieval"]["bootstrap"], settings["seed"]
    )
    provenance = write_tables(folder, settings, collection, Path(snakemake.params.project))
    if given.validity:
        write_validity(folder, settings, collection, provenance)
