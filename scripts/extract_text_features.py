"""Encode the captions of one kind (see rules/features.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.common.fig import read_splits
    from verified.features.text import caption_rows, write_text_features

    rows = read_splits(snakemake.input.annotations)
    captions = caption_rows(rows, snakemake.params.caption)
    write_text_features(captions, snakemake.params.settings, snakemake.output.features)
