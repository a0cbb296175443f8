"""Write the pages on which people review captions, or moments with findings (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.annotations.selection import read_candidates
    from verified.config.annotations import Lint
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl
    from verified.people.pages import write_pages
    from verified.runtime.wildcards import key_of
    from verified_lab.audit.findings import Finding
    from verified_lab.audit.pages import audit_queue
    from verified_lab.config import Review
    from verified_lab.pages import REVIEW
    from verified_lab.review.pages import pages, queue, text_rules

    inputs, settings = snakemake.input, snakemake.params
    review = received(Review, settings.review)
    moments = read_jsonl(inputs.moments)
    groups = read_candidates(moments, inputs.scores, settings.choose_by, settings.seed, inputs.agreement)
    if inputs.get("findings"):
        items = audit_queue(moments, groups, (Finding(**row) for row in read_jsonl(inputs.findings)))
    else:
        items = queue(moments, groups, review.order)
    dataset, size = key_of(snakemake.wildcards.dataset), (review.moments, review.clip_side)
    around = settings.warning, review.context, text_rules(received(Lint, settings.lint))
    made = pages(dataset, settings.title, items, read_jsonl(inputs.videos), *size, *around)
    count = write_pages(Path(snakemake.output.pages), REVIEW, made)
    log.info("%d moments on %d pages", len(items), count)
