"""Summarise confidence scores and time spans (see rules/statistics.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.fig import read_splits
    from verified.common.folders import key_of
    from verified.common.jsonl import write_json
    from verified.statistics.summaries import confidence, spans

    rows = read_splits(snakemake.input.annotations)
    head = {
        "dataset": key_of(snakemake.wildcards.dataset),
        "splits": list(dict.fromkeys(row["split"] for row in rows)),
        "missing_splits": list(snakemake.params.missing),
    }
    write_json(snakemake.output.confidence, {**head, **confidence(rows)})
    write_json(snakemake.output.spans, {**head, **spans(rows)})
