"""Draw the training curves of the evaluator (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures.training import draw_evaluator
    from verified.io.jsonl import read_jsonl

    stages = {}
    for path in snakemake.input:
        for row in read_jsonl(path):
            stages.setdefault(row["stage"], []).append(row)
    draw_evaluator(stages, snakemake.output)
