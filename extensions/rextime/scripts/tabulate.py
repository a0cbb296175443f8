"""The ReXTime tables for `build_tables` (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.benchmark.published import read_published
    from verified.config.params import received
    from verified.io.jsonl import read_json
    from verified.tables.table import write_table_json
    from verified_rextime import tables
    from verified_rextime.config import Prices
    from verified_rextime.statistics import released_statistics

    inputs, params = snakemake.input, snakemake.params
    statistics = released_statistics(params.released)
    sheets = [tables.cost_table(received(Prices, params.prices))]
    if inputs.sources:
        sheets.append(tables.sources_table(read_json(inputs.sources[0])))
        sheets.append(tables.generation_table(read_json(inputs.counts[0])))
        statistics = read_json(inputs.statistics[0]) | statistics
    sheets.append(tables.questions_table(statistics))
    if inputs.results:
        results = read_json(inputs.results[0])
        sheets.append(tables.results_table(results, read_published(inputs.published, "rextime")))
        if (by_kind := tables.kinds_table(results)) is not None:
            sheets.append(by_kind)
    if params.free:
        sheets.append(tables.free_table(params.free, params.video_lmm))
    write_table_json(snakemake.output.tables, sheets)
