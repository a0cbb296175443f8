"""Write all tables of a run (see rules/tables.smk)."""

from verified.common.job import job

with job(snakemake):
    from pathlib import Path

    from verified.config import load
    from verified.config.folders import shown_datasets
    from verified.tables.availability import availability_tables
    from verified.tables.collect import Collection
    from verified.tables.evaluator import evaluator_table
    from verified.tables.outcomes import outcomes_table
    from verified.tables.reproduction import read_printed
    from verified.tables.simple import read_table_json
    from verified.tables.validity import validity_table
    from verified.tables.write import write_tables

    configuration = load(snakemake.config)
    given, settings = snakemake.input, configuration.model_dump(mode="json")
    settings["datasets"] = {name: settings["datasets"][name] for name in shown_datasets(configuration)}
    statistics = [*given.statistics, *given.validity, *given.studies, *given.counts]
    collection = Collection(given.metrics, statistics, settings["retrieval"]["bootstrap"], settings["seed"])
    simple = [table for path in given.stages for table in read_table_json(path)]
    if given.counts:
        simple += availability_tables(settings, collection)
    if given.outcomes:
        simple.append(outcomes_table(settings, given.outcomes))
    if given.validations:
        simple.append(evaluator_table(settings, given.validations, given.ablations))
    if given.validity:
        simple.append(validity_table(settings, collection))
    project = Path(given.printed).parent.parent
    folder = Path(snakemake.output.tables)
    write_tables(folder, settings, collection, project, read_printed(Path(given.printed)), simple)
