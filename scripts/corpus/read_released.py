"""Read one split of a finished collection into FIG form (see rules/released.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.config.sources import ReleasedSource
    from verified.io.fig import write_fig
    from verified.released.collections import read_release

    rows = read_release(received(ReleasedSource, snakemake.params.source), snakemake.wildcards.split)
    write_fig(snakemake.output.annotations, rows)
    log.info("%s: %d rows, checksums right", snakemake.wildcards.split, len(rows))
