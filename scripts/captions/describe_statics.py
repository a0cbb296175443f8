"""Statics enhanced captions of one shard (see rules/captions.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.captions.rows import shard_counts, split_corrupted
    from verified.captions.statics import caption_statics
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.keyframes.archive import KeyframeTar
    from verified.lmm.session import Session
    from verified.lmm.tasks.statics import TASKS
    from verified.weights.records import locate_models

    generation = locate_models(received(Generation, snakemake.params.generation), snakemake.input.weights)
    moments = read_jsonl(snakemake.input.moments)
    with (
        KeyframeTar(snakemake.input.keyframes) as keyframes,
        Session(generation, snakemake.params.seed, TASKS) as session,
    ):
        rows, corrupted = split_corrupted(caption_statics(moments, keyframes, session))
        counts = shard_counts(rows, generation.candidates, session.outcome_counts())
        counts |= {"unanswered": session.settle(), "asked_in": snakemake.params.asked_in}
    write_jsonl(snakemake.output.captions, rows)
    write_jsonl(snakemake.output.corrupted, corrupted)
    write_json(snakemake.output.counts, counts)
    log.info(
        "%d moments: %d complete, %d short, %d without",
        *[counts[name] for name in ("moments", "complete", "short", "without")],
    )
