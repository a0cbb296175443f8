"""Items for questions across time, and what the filters rejected (see rules/rextime.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.benchmark.rextime.prepare import read_sources
    from verified.config.rextime import Rextime
    from verified.io.jsonl import write_json, write_jsonl

    suite = Rextime(**snakemake.params.suite)
    items, rejections, counts = read_sources(suite, snakemake.params.corpora)
    write_jsonl(snakemake.output.rows, items)
    write_jsonl(snakemake.output.rejected, rejections)
    write_json(snakemake.output.counts, counts)
    log.info("%d items; %d rejections in %s", len(items), len(rejections), snakemake.output.rejected)
