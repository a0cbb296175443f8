"""Summarise confidence scores and time spans (see rules/statistics.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import key_of
    from verified.statistics.summaries import confidence, spans

    rows = read_splits(snakemake.input.annotations)
    head = {
        "dataset": key_of(snakemake.wildcards.dataset),
        "splits": list(dict.fromkeys(row["split"] for row in rows)),
        "missing_splits": list(snakemake.params.missing),
    }
    write_json(snakemake.output.confidence, {**head, **confidence(rows)})
    write_json(snakemake.output.spans, {**head, **spans(rows)})
