"""Draw the gain of more candidates per moment (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures.cost import calls_of_types, candidate_gains, draw_cost
    from verified.io.jsonl import read_json, read_jsonl

    inputs = snakemake.input
    scores = [row for path in inputs.scores for row in read_jsonl(path)]
    wrong = None
    if corrupted := inputs.get("corrupted"):
        rows = [row for path in corrupted for row in read_jsonl(path)]
        wrong = {(row["desc_id"], row["type"], row["candidate"]) for row in rows}
    draw_cost(candidate_gains(scores, calls_of_types(read_json(inputs.outcomes)), wrong), snakemake.output)
