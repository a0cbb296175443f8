"""Draw a few generated examples (see rules/figures.smk)."""

from verified.common.job import job

EXAMPLES = 4

with job(snakemake):
    from verified.common.jsonl import read_jsonl
    from verified.figures.examples import draw_examples

    given, drawn = snakemake.input, snakemake.output
    scores = [row for path in given.scores for row in read_jsonl(path)]
    annotations = read_jsonl(given.annotations)
    draw_examples(annotations, scores, given.keyframes, [drawn.svg, drawn.png], EXAMPLES, snakemake.params.seed)
