"""Vectors of the test videos of one shard by the role `embed` (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]) as log:
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_json
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.weights.records import locate_models
    from verified_field.dense import write_embedded
    from verified_field.embedding import embed_settings

    inputs, params = snakemake.input, snakemake.params
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    tested = {row["video"] for row in read_jsonl(inputs.moments) if row["split"] == params.split}
    videos = {row["video"]: row for row in read_jsonl(inputs.videos) if row["video"] in tested}
    with Session(generation, 0, (EMBEDDING,)) as session:
        counts = write_embedded(videos, embed_settings(generation), session, snakemake.output.features)
        calls = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    write_json(snakemake.output.counts, {**counts, **calls})
    log.info("%(pieces)d pieces of %(videos)d videos", counts)
