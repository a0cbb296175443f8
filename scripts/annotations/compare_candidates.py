"""Compare candidates with their coarse captions by the sentence encoder (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.annotations.selection import SCORE_KEYS
    from verified.annotations.similarity import similarities
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.weights.records import source_of

    inputs, settings = snakemake.input, snakemake.params
    scores = [row for path in inputs.scores for row in read_jsonl(path, SCORE_KEYS)]
    encoder, _ = source_of(settings.sentence_encoder, settings.revision, inputs.weights)
    rows = similarities(read_jsonl(inputs.moments), scores, encoder, settings.threads)
    write_jsonl(snakemake.output[0], rows)
