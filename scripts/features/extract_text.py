"""Encode the captions of one kind (see rules/features.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.features["threads"]):
    from verified.config.features import Features
    from verified.config.params import received
    from verified.features.text import write_text_features
    from verified.io.fig import read_splits
    from verified.weights.records import source_of

    rows = read_splits(snakemake.input.annotations)
    captions = [(str(row["desc_id"]), row[snakemake.params.caption]) for row in rows]
    settings = received(Features, snakemake.params.features)
    weights = source_of(settings.text_encoder, settings.text_revision, snakemake.input.weights)
    write_text_features(captions, settings, snakemake.output.features, weights)
