"""Test videos and windows by the vectors of the role `embed`, without training (see rules/dense.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.benchmark.vcmr.dense import test_dense
    from verified.config import load
    from verified.io.jsonl import read_jsonl
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.runtime.folders import key_of
    from verified.weights.records import locate_models

    settings, inputs, output = load(snakemake.config), snakemake.input, snakemake.output
    generation = locate_models(settings.generation, inputs.weights)
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    dataset, params = key_of(snakemake.wildcards.dataset), snakemake.params
    facts = {**params.facts, "dataset": dataset, "asked_in": params.asked_in}
    with Session(generation, settings.seed, (EMBEDDING,)) as session:
        test_dense(
            inputs.test,
            videos,
            inputs.features,
            session,
            settings.datasets[dataset].spans,
            facts,
            (output.submission, output.metrics, output.queries),
        )
