"""Write all tables of a run (see rules/tables.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.benchmark.published import read_published
    from verified.config.params import received
    from verified.tables.added import added_tables
    from verified.tables.collect import Collection
    from verified.tables.shown import Shown
    from verified.tables.table import read_table_json
    from verified.tables.write import write_tables

    inputs, settings = snakemake.input, received(Shown, snakemake.params.settings)
    statistics = [*inputs.statistics, *inputs.validity, *inputs.studies, *inputs.counts, *inputs.get("added_calls", [])]
    collection = Collection(inputs.metrics, statistics)
    simple = [table for path in inputs.stages for table in read_table_json(path)]
    simple += added_tables(settings, collection, dict(inputs.items()))
    project = Path(inputs.published).parent.parent
    folder = Path(snakemake.output.tables)
    published = read_published(inputs.published, "verified")
    write_tables(folder, settings, collection, project, published, simple, inputs.weights)
