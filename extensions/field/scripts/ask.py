"""A video LMM locates a query in the best videos of a first stage, or grades its best moments (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.benchmark.vcmr.data import read_moments
    from verified.benchmark.vcmr.testing import write_test
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl
    from verified.lmm.session import Session
    from verified.runtime.wildcards import key_of
    from verified.weights.records import locate_models
    from verified_field.config import Grounder, Reranker
    from verified_field.grounding import ground, read_first_stage, rerank
    from verified_field.tasks import GRADE, GROUND

    inputs, params = snakemake.input, snakemake.params
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    kind, work, task = (Grounder, ground, GROUND) if params.grounds else (Reranker, rerank, GRADE)
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    moments = read_moments(inputs.test, params.facts["tested_on"])
    first = read_first_stage(inputs.first, moments)
    with Session(generation, params.seed, (task,)) as session:
        lists, cost = work(first, moments, videos, received(kind, params.step), session)
        counts = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    facts = {**params.facts, "dataset": key_of(snakemake.wildcards.dataset), "parameters": 0, "cost": cost, **counts}
    outputs = snakemake.output.submission, snakemake.output.metrics, snakemake.output.queries
    write_test(lists, moments, params.nms_threshold, facts, outputs)
    log.info("%d queries, %d calls without an answer", len(moments), cost["without_answer"])
