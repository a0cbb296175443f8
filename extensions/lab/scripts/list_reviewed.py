"""List the coarse captions of one split at the times that reviewers gave them (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.annotations.selection import coarse_row
    from verified.io.fig import COG_KEYS, write_fig
    from verified.io.jsonl import read_json, read_jsonl
    from verified_lab.review.apply import drawn_rows, with_times

    split, review = snakemake.wildcards.split, read_json(snakemake.input.review)
    rows = [coarse_row(moment) for moment in read_jsonl(snakemake.input.moments) if moment["split"] == split]
    rows = with_times(rows, {int(moment): outcome for moment, outcome in review["outcomes"].items()})
    drawn = drawn_rows(moment for moment in review["drawn"] if moment["split"] == split)
    rows += [{key: row[key] for key in COG_KEYS} for row in drawn]
    write_fig(snakemake.output.annotations, rows)
    log.info("%s: %d coarse captions", split, len(rows))
