"""Draw how the evaluator scores faithful and disturbed captions (see rules/figures_runs.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_json
    from verified.figures.validation import draw_validation

    draw_validation(read_json(snakemake.input.validation), snakemake.output)
