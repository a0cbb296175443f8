"""Write the pages on which people review captions (see rules/review.smk)."""

from verified.common.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.annotations.choose import SCORE_KEYS, candidates_by_moment, chosen_by
    from verified.common.folders import key_of
    from verified.common.jsonl import read_jsonl
    from verified.review.pages import queue, write_pages

    inputs, settings = snakemake.input, snakemake.params
    moments = read_jsonl(inputs.moments)
    groups = candidates_by_moment(moments, [row for path in inputs.scores for row in read_jsonl(path, SCORE_KEYS)])
    similarities = [row for path in inputs.similarities for row in read_jsonl(path)]
    shown = queue(moments, chosen_by(groups, settings.choose_by, settings.seed, similarities), settings.review["order"])
    size = settings.review["moments"], settings.review["clip_side"]
    pages = write_pages(
        Path(snakemake.output.pages),
        key_of(snakemake.wildcards.dataset),
        settings.title,
        shown,
        read_jsonl(inputs.videos),
        *size,
        settings.warning,
    )
    log.info("%d moments on %d pages", len(shown), pages)
