"""A retrieval model is fine-tuned on the questions of train of one data set (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["retrieval"]["threads"]) as log:
    from verified.benchmark.vcmr.experiment import Settings
    from verified.config.features import Features
    from verified.config.params import received
    from verified.errors import InputError
    from verified.io.jsonl import read_jsonl
    from verified.weights.records import source_of
    from verified_rextime.ground import encode_questions, fine_tune

    inputs, features = snakemake.input, received(Features, snakemake.params.features)
    sources = snakemake.params.sources
    rows = [row for row in read_jsonl(inputs.questions) if row["source"] in sources]
    if not rows:
        raise InputError("no question to learn from", file=inputs.questions, remedy="leave out fine_tuned_retrieval")
    encoder = source_of(features.text_encoder, features.text_revision, inputs.weights)
    encode_questions(rows, features, snakemake.output.text, encoder)
    files = {"checkpoint": inputs.checkpoint, "video": inputs.video, "text": snakemake.output.text}
    settings = received(Settings, snakemake.params.settings)
    fine_tune(rows, files, settings, snakemake.output.checkpoint, snakemake.output.record)
    log.info("%d questions", len(rows))
