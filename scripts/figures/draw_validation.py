"""Draw how the evaluator scores faithful and perturbed captions (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures.validation import draw_validation
    from verified.io.jsonl import read_json

    draw_validation(read_json(snakemake.input.validation), snakemake.output)
