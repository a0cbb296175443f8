"""List the coarse captions of one split (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import coarse_row
    from verified.io.fig import write_fig
    from verified.io.jsonl import read_jsonl

    split = snakemake.wildcards.split
    rows = [coarse_row(moment) for moment in read_jsonl(snakemake.input.moments) if moment["split"] == split]
    write_fig(snakemake.output.annotations, rows)
    log.info("%s: %d coarse captions", split, len(rows))
