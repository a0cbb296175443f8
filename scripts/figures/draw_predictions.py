"""Draw XML's predictions for one query, trained on coarse and on fine captions (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.figures.predictions import choose_query, draw_predictions, read_predictions
    from verified.io.jsonl import read_jsonl

    inputs = snakemake.input
    threshold = snakemake.params.nms_threshold
    ranked = {"COG": read_predictions(inputs.coarse, threshold), "FIG": read_predictions(inputs.fine, threshold)}
    query = choose_query(read_jsonl(inputs.annotations), ranked["COG"], ranked["FIG"], snakemake.params.seed)
    videos = {row["video"]: row for row in read_jsonl(inputs.videos)}
    lists = {name: predictions.get(query["desc_id"], []) for name, predictions in ranked.items()}
    draw_predictions(query, lists, videos, snakemake.output)
