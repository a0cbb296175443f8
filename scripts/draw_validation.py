"""Draw how the evaluator scores faithful and spoiled captions (see rules/figures.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl
    from verified.figures.validation import draw_validation

    given = snakemake.input
    scores = [row for path in given.scores for row in read_jsonl(path)]
    spoiled = [row for path in given.spoiled for row in read_jsonl(path)]
    draw_validation(scores, spoiled, snakemake.output)
