"""Draw what XML finds for one query, trained on coarse and on fine captions (see rules/figures.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl
    from verified.figures.predictions import choose_query, draw_predictions, read_predictions

    given = snakemake.input
    ranked = {"COG": read_predictions(given.coarse), "FIG": read_predictions(given.fine)}
    query = choose_query(read_jsonl(given.annotations), ranked["COG"], ranked["FIG"], snakemake.params.seed)
    videos = {row["video"]: row for row in read_jsonl(given.videos)}
    found = {name: predictions.get(query["desc_id"], []) for name, predictions in ranked.items()}
    draw_predictions(query, found, videos, snakemake.output)
