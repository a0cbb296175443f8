"""Draw scores, spans and clusters (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures import statistics
    from verified.io.jsonl import read_json

    for name in ("confidence", "spans", "clusters", "classes"):
        statistics.draw(getattr(statistics, name), read_json(snakemake.input[name]), snakemake.output[name])
