"""Write the pages on which people review captions (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.annotations.selection import SCORE_KEYS, candidates_by_moment, choose_by
    from verified.io.jsonl import read_jsonl
    from verified.people.pages import write_pages
    from verified.runtime.wildcards import key_of
    from verified_lab.review.pages import pages, queue, text_rules

    inputs, settings = snakemake.input, snakemake.params
    moments = read_jsonl(inputs.moments)
    groups = candidates_by_moment(moments, [row for path in inputs.scores for row in read_jsonl(path, SCORE_KEYS)])
    similarities = [row for path in inputs.similarities for row in read_jsonl(path)]
    shown = queue(moments, choose_by(groups, settings.choose_by, settings.seed, similarities), settings.review["order"])
    dataset, size = key_of(snakemake.wildcards.dataset), (settings.review["moments"], settings.review["clip_side"])
    around = settings.warning, settings.review["context"], text_rules(settings.lint)
    made = pages(dataset, settings.title, shown, read_jsonl(inputs.videos), *size, *around)
    count = write_pages(Path(snakemake.output.pages), "review", made)
    log.info("%d moments on %d pages", len(shown), count)
