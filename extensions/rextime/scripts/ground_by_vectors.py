"""Vectors find the spans of the questions of one data set, without training (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.config.datasets import Spans
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.weights.records import locate_models
    from verified_rextime.ground import ground_by_vectors
    from verified_rextime.results import submission_rows

    inputs, params = snakemake.input, snakemake.params
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    rows = [row for path in inputs.questions for row in read_jsonl(path)]
    rows = [row for row in rows if row["source"] in params.sources and row["options"]]
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    spans = received(Spans, params.spans)
    with Session(generation, 0, (EMBEDDING,)) as session:
        found = ground_by_vectors(rows, videos, spans, session)
        counts = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    write_jsonl(snakemake.output.submission, submission_rows(found))
    write_json(snakemake.output.counts, {"questions": len(rows), **counts})
    log.info("%d questions", len(rows))
