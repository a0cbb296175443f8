"""The suite's tables for `build_tables` (see rules/rextime.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_json, read_jsonl
    from verified.config.rextime import Prices
    from verified.rextime import tables
    from verified.rextime.statistics import released_statistics
    from verified.tables.simple import write_table_json

    given, params = snakemake.input, snakemake.params
    statistics = released_statistics(params.released)
    shown = [tables.cost_table(Prices(**params.prices))]
    if given.sources:
        shown.append(tables.sources_table(read_json(given.sources[0])))
        shown.append(tables.generation_table(read_json(given.counts[0])))
        statistics = read_json(given.statistics[0]) | statistics
    shown.append(tables.questions_table(statistics))
    if given.results:
        shown.append(tables.results_table(read_json(given.results[0]), tables.read_printed(given.printed)))
    if given.validity:
        shown.append(tables.validity_table(read_jsonl(given.validity[0]), params.seed))
    write_table_json(snakemake.output.tables, shown)
