"""Encode the sentences of a data set of movies."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.encoder["encoder_threads"]):
    from verified.io.jsonl import read_jsonl
    from verified.weights.records import source_of
    from verified_longform.encoders import load_encoder, write_sentence_features

    inputs, settings = snakemake.input, snakemake.params.encoder
    name, batch = settings["encoder"], settings["encoder_batch"]
    source, _ = source_of(name, settings["encoder_revision"], inputs.get("weights", []))
    encoder = load_encoder(source, inputs.get("checkpoint"))
    rows = read_jsonl(inputs.rows)
    output = snakemake.output
    write_sentence_features(rows, encoder, name, batch, output.tokens, output.sentences)
