"""A video LMM looks into the best videos of a first stage, or grades its best moments (see rules/grounding.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.benchmark.vcmr.data import read_moments
    from verified.benchmark.vcmr.grounding import ground, read_first_stage, rerank
    from verified.benchmark.vcmr.results import write_test
    from verified.config import load
    from verified.io.jsonl import read_jsonl
    from verified.lmm.engines.scoring import scoring_engine
    from verified.lmm.session import Session
    from verified.lmm.tasks.retrieval import GROUND, YES_OR_NO, tasks_of
    from verified.runtime.folders import key_of
    from verified.weights.records import locate_models

    settings, inputs, params = load(snakemake.config), snakemake.input, snakemake.params
    generation, dataset = locate_models(settings.generation, inputs.weights), key_of(snakemake.wildcards.dataset)
    step = getattr(settings.retrieval, params.step)
    work, tasks = (ground, (GROUND,)) if params.step == "grounder" else (rerank, tasks_of(step.by))
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    moments = read_moments(inputs.test, params.facts["tested_on"])
    first = read_first_stage(inputs.first, moments)
    engines = {"video_lmm": scoring_engine(generation)} if YES_OR_NO in tasks else {}
    with Session(generation, settings.seed, tasks, engines) as session:
        lists, cost = work(first, moments, videos, step, session)
        asked = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    facts = {**params.facts, "dataset": dataset, "parameters": 0, "cost": cost, **asked}
    outputs = snakemake.output.submission, snakemake.output.metrics, snakemake.output.queries
    write_test(lists, moments, settings.datasets[dataset].spans.nms_threshold, facts, outputs)
    log.info("%d queries, %d calls without an answer", len(moments), cost["without_answer"])
