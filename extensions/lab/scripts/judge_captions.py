"""Judged captions with the evaluator's scores and the grade of a video LMM (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.retrieval import GRADE
    from verified.weights.records import locate_models
    from verified_lab.meta_evaluation.judgements import review
    from verified_lab.meta_evaluation.of_run import by_review, by_truth, drawn, judge_grades, judged_rows

    inputs, params = snakemake.input, snakemake.params

    def rows_of(paths):
        return [row for path in paths for row in read_jsonl(path)]

    generation = locate_models(received(Generation, params.generation), inputs.weights)
    scores = rows_of(inputs.scores)
    moments = {row["desc_id"]: row for row in read_jsonl(inputs.moments)}
    if inputs.get("truth"):
        sample = drawn(scores, params.section["moments"], params.seed)
        judged = by_truth(sample, moments, rows_of(inputs.truth), rows_of(inputs.corrupted))
    else:
        judged = by_review(scores, moments, review(inputs.review))
    videos = {row["video"]: row for row in rows_of(inputs.videos)}
    with Session(generation, params.seed, (GRADE,)) as session:
        grades = judge_grades(judged, videos, params.section["frames"], session)
        counts = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    write_json(snakemake.output.counts, counts)
    write_jsonl(snakemake.output.judged, judged_rows(judged, scores, grades))
    log.info("%d captions judged", len(judged))
