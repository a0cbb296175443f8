"""A vector for each caption of one kind by the role `embed` (see rules/features.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.features.embedded import write_embedded_captions
    from verified.features.text import caption_rows
    from verified.io.fig import read_splits
    from verified.io.jsonl import write_json
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.weights.records import locate_models

    inputs, params = snakemake.input, snakemake.params
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    captions = caption_rows(read_splits(inputs.annotations), params.caption)
    with Session(generation, 0, (EMBEDDING,)) as session:
        count = write_embedded_captions(captions, session, snakemake.output.features)
        calls = {"calls": session.outcome_counts(), "unanswered": session.settle(), "asked_in": params.asked_in}
    write_json(snakemake.output.counts, {"captions": count, **calls})
