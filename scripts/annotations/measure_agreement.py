"""Measure the agreement of each moment's candidates (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from verified.annotations.agreement import agreement, frame_vectors
    from verified.annotations.selection import SCORE_KEYS
    from verified.features.encoders import load_joint
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.keyframes.archive import KeyframeTar
    from verified.weights.records import source_of

    inputs, settings = snakemake.input, snakemake.params
    scores = [row for path in inputs.scores for row in read_jsonl(path, SCORE_KEYS)]
    sentences, _ = source_of(*settings.sentences, inputs.weights)
    joint, _ = source_of(*settings.joint, inputs.weights)
    encoder = load_joint(joint)
    with KeyframeTar(*inputs.keyframes) as keyframes:
        frames = frame_vectors(keyframes, encoder)
    rows = agreement(read_jsonl(inputs.moments), scores, frames, encoder, sentences, settings.threads)
    write_jsonl(snakemake.output[0], rows)
