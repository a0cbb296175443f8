"""Test videos and windows by the vectors of the role `embed`, without training (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.generation["threads"]):
    from verified.config.datasets import Spans
    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.runtime.wildcards import key_of
    from verified.weights.records import locate_models
    from verified_field.dense import test_dense

    inputs, params, output = snakemake.input, snakemake.params, snakemake.output
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    facts = {**params.facts, "dataset": key_of(snakemake.wildcards.dataset), "asked_in": params.asked_in}
    with Session(generation, 0, (EMBEDDING,)) as session:
        test_dense(
            inputs.test,
            videos,
            inputs.features,
            session,
            received(Spans, params.spans),
            facts,
            (output.submission, output.metrics, output.queries),
        )
