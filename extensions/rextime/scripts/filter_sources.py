"""Items for questions across time, and rejections of the filters (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.io.jsonl import write_json, write_jsonl
    from verified_rextime.config import Rextime
    from verified_rextime.sources import read_sources

    section = received(Rextime, snakemake.params.section)
    items, rejections, counts = read_sources(section, snakemake.params.corpora)
    write_jsonl(snakemake.output.rows, items)
    write_jsonl(snakemake.output.rejected, rejections)
    write_json(snakemake.output.counts, counts)
    log.info("%d items; %d rejections in %s", len(items), len(rejections), snakemake.output.rejected)
