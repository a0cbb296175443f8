"""Draw the training curves of retrieval models (see rules/figures.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.figures.training import draw_retrieval
    from verified.io.jsonl import read_jsonl

    # results/DATASET/retrieval/MODEL/TRAINED-ON/seed-N/log.jsonl
    paths_of_logs = [Path(path).parts for path in snakemake.input]
    logs = {(parts[-4], parts[-3]): read_jsonl(path) for parts, path in zip(paths_of_logs, snakemake.input)}
    draw_retrieval(logs, snakemake.output)
