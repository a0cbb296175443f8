"""Dynamics enhanced captions of one shard (see rules/captions.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.captions.dynamics import caption_dynamics
    from verified.captions.rows import shard_counts, split_corrupted
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.dynamics import TASKS
    from verified.weights.records import locate_models

    generation = locate_models(received(Generation, snakemake.params.generation), snakemake.input.weights)
    moments = read_jsonl(snakemake.input.moments)
    videos = {row["video"]: row for row in read_jsonl(snakemake.input.videos)}
    with Session(generation, snakemake.params.seed, TASKS) as session:
        rows, corrupted = split_corrupted(caption_dynamics(moments, videos, snakemake.params.dynamics, session))
        counts = shard_counts(rows, generation.candidates, session.outcome_counts())
        counts |= {"unanswered": session.settle(), "asked_in": snakemake.params.asked_in}
    counts["thinned"] = sum(row["thinned"] for row in rows)
    write_jsonl(snakemake.output.captions, rows)
    write_jsonl(snakemake.output.corrupted, corrupted)
    write_json(snakemake.output.counts, counts)
    log.info(
        "%d moments: %d complete, %d short, %d without",
        *[counts[name] for name in ("moments", "complete", "short", "without")],
    )
