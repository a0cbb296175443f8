"""The questions of all shards, by split, with their statistics (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
    from verified_rextime.statistics import add_counts, benchmark_statistics

    def _numbers(path: str) -> dict:
        return {name: value for name, value in read_json(path).items() if name != "asked_in"}

    rows = sorted((row for path in snakemake.input.questions for row in read_jsonl(path)), key=lambda row: row["qid"])
    to_mark = [row for path in snakemake.input.to_mark for row in read_jsonl(path)]
    to_review = sorted([*rows, *to_mark], key=lambda row: row["qid"])
    for paths, questions in ((snakemake.output.splits, rows), (snakemake.output.to_review, to_review)):
        for path in paths:
            write_jsonl(path, (row for row in questions if row["split"] == Path(path).stem))
    write_json(snakemake.output.statistics, benchmark_statistics(rows))
    write_json(snakemake.output.counts, add_counts(_numbers(path) for path in snakemake.input.counts))
    log.info("%d questions, %d more once people mark them", len(rows), len(to_mark))
