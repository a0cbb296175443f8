"""Answers to given questions in one file, as evaluators and leaderboards take it (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified_rextime.rows import read_questions

    answers = {row["qid"]: row for path in snakemake.input.shards for row in read_jsonl(path)}
    order = [question.qid for question in read_questions(snakemake.input.questions, scored=False)]
    write_jsonl(snakemake.output.submission, (answers[qid] for qid in order))
    log.info("%d answers", len(order))
