"""A video LMM takes the test on the questions of one shard (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.weights.records import locate_models
    from verified_rextime.answer import engines_for, take_test, tasks_for

    params = snakemake.params
    generation = locate_models(received(Generation, params.generation), snakemake.input.weights)
    videos = {row["video"]: row for row in read_jsonl(snakemake.input.videos)}
    questions, protocol = read_jsonl(snakemake.input.questions), snakemake.wildcards.protocol
    adapter = snakemake.input.adapter or None
    tasks, engines = tasks_for(protocol, questions), engines_for(protocol, generation, questions, adapter)
    with Session(generation, params.seed, tasks, engines) as session:
        submission, failures = take_test(questions, videos, protocol, params.frames, session)
        counts = {"questions": len(submission), "by_nothing": len(failures), "calls": session.outcome_counts()}
        counts |= {"unanswered": session.settle(), "asked_in": params.asked_in}
    write_jsonl(snakemake.output.submission, submission)
    write_jsonl(snakemake.output.failures, failures)
    write_json(snakemake.output.counts, counts)
    log.info("%d questions answered, %d of them by nothing", len(submission), len(failures))
