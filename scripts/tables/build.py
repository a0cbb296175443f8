"""Write all tables of a run (see rules/tables.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.benchmark.published import read_published
    from verified.tables.availability import availability_tables
    from verified.tables.collect import Collection
    from verified.tables.evaluator import evaluator_table
    from verified.tables.outcomes import outcomes_table
    from verified.tables.shown import Shown
    from verified.tables.table import read_table_json
    from verified.tables.validity import validity_table
    from verified.tables.write import write_tables

    inputs, settings = snakemake.input, Shown(**snakemake.params.settings)
    statistics = [*inputs.statistics, *inputs.validity, *inputs.studies, *inputs.counts]
    collection = Collection(inputs.metrics, statistics)
    simple = [table for path in inputs.stages for table in read_table_json(path)]
    if inputs.counts:
        simple += availability_tables(settings, collection)
    if inputs.outcomes:
        simple.append(outcomes_table(settings, inputs.outcomes))
    if inputs.validations:
        simple.append(evaluator_table(settings, inputs.validations, inputs.ablations))
    if inputs.validity:
        simple.append(validity_table(settings, collection))
    project = Path(inputs.published).parent.parent
    folder = Path(snakemake.output.tables)
    write_tables(folder, settings, collection, project, read_published(inputs.published, "verified"), simple)
