"""Scores of everybody who took the test, by split (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import write_json
    from verified_rextime.results import score_all, submissions_of
    from verified_rextime.rows import read_questions

    questions = {split: read_questions(path) for split, path in snakemake.params.tested.items()}
    results = {
        split: score_all(rows, submissions_of(rows, snakemake.params.systems, split), snakemake.params.seed)
        for split, rows in questions.items()
    }
    write_json(snakemake.output.results, results)
