"""A part of given questions in the form of their file (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.benchmark.submissions import rows_by_id
    from verified.config.params import received
    from verified.io.jsonl import write_jsonl
    from verified_rextime.config import ReleasedQuestions
    from verified_rextime.rows import choose, read_questions

    section = received(ReleasedQuestions, snakemake.params.given)
    questions = read_questions(section.questions, section.scored)
    chosen = {question.qid for question in choose(questions, section, snakemake.params.seed)}
    write_jsonl(snakemake.output.sample, (row for _, qid, row in rows_by_id(section.questions, "qid") if qid in chosen))
    log.info("%d of %d questions", len(chosen), len(questions))
