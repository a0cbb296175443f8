"""The suite's tables for `build_tables` (see rules/rextime.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_json, read_jsonl
    from verified.config.rextime import Prices
    from verified.rextime import tables
    from verified.tables.simple import write_table_json

    given, params = snakemake.input, snakemake.params
    shown = [
        tables.sources_table(read_json(given.sources)),
        tables.generation_table(read_json(given.counts)),
        tables.questions_table(read_json(given.statistics)),
        tables.cost_table(Prices(**params.prices)),
    ]
    if given.results:
        shown.append(tables.results_table(read_json(given.results[0]), tables.read_printed(given.printed)))
    if given.validity:
        shown.append(tables.validity_table(read_jsonl(given.validity[0]), params.seed))
    write_table_json(snakemake.output.tables, shown)
