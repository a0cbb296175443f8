"""Scores of everybody who took the test, by split (see rules/rextime_models.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import write_json
    from verified.rextime.results import score_all, submissions_of
    from verified.rextime.rows import read_questions

    questions = {split: read_questions(path) for split, path in snakemake.params.tested.items()}
    results = {
        split: score_all(rows, submissions_of(rows, snakemake.params.takers, split), snakemake.params.seed)
        for split, rows in questions.items()
    }
    write_json(snakemake.output.results, results)
