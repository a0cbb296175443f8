"""Tables of a user's data set: moments in and out, and the cost (see rules/own_corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.jsonl import iterate_jsonl, read_json
    from verified.lmm.ledger import Ledger
    from verified.lmm.ledger_files import lineage_of
    from verified.runtime.wildcards import key_of
    from verified.tables.own_corpus import corpus_table, costs_table
    from verified.tables.table import write_table_json

    inputs, title = snakemake.input, snakemake.params.title
    key, annotations = key_of(snakemake.wildcards.dataset), read_json(inputs.annotations)
    keys = lineage_of([row for path in (*inputs.scenes, *inputs.rows) for row in iterate_jsonl(path)])
    with Ledger(snakemake.params.ledger) as ledger:
        costs = costs_table(title, key, keys, ledger.get, annotations["annotated"])
    write_table_json(snakemake.output[0], [corpus_table(title, key, read_json(inputs.corpus), annotations), costs])
    log.info("%d rows of costs", len(costs.rows))
