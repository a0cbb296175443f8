"""Draw scores, spans and clusters (see rules/figures.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_json
    from verified.figures import statistics

    for name in ("confidence", "spans", "clusters"):
        statistics.draw(getattr(statistics, name), read_json(snakemake.input[name]), snakemake.output[name])
