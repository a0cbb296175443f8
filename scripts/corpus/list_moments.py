"""List the moments of a source that knows them itself (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.config.sources import KINDS
    from verified.io.jsonl import write_jsonl

    source = received(KINDS[snakemake.params.source["kind"]], snakemake.params.source)
    log.info("%d moments", write_jsonl(snakemake.output.moments, source.rows()))
