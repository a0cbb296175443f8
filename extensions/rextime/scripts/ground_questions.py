"""A retrieval model finds the spans of the questions of one data set (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.search["retrieval"]["threads"]) as log:
    from verified.benchmark.vcmr.experiment import Settings
    from verified.config.features import Features
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.weights.records import source_of
    from verified_rextime.ground import encode_questions, ground
    from verified_rextime.results import submission_rows

    inputs, features = snakemake.input, received(Features, snakemake.params.features)
    search = received(Settings, snakemake.params.search)
    sources = snakemake.params.sources
    rows = [row for path in inputs.questions for row in read_jsonl(path)]
    rows = [row for row in rows if row["source"] in sources and row["options"]]
    encoder = source_of(features.text_encoder, features.text_revision, inputs.weights)
    encode_questions(rows, features, snakemake.output.text, encoder)
    files = {"checkpoint": inputs.checkpoint, "video": inputs.video, "text": snakemake.output.text}
    write_jsonl(snakemake.output.submission, submission_rows(ground(rows, files, search)))
    log.info("%d questions", len(rows))
