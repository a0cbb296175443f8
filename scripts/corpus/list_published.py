"""List the moments of a published collection (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.sources import PublishedSource
    from verified.corpus.published_source import write_published

    count = write_published(PublishedSource(**snakemake.params.source), snakemake.output.moments)
    log.info("%d moments, checksums right", count)
