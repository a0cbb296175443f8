"""Join the shards of video features by links (see rules/features.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.features.files import link_video_features

    link_video_features(snakemake.input.shards, snakemake.input.videos, snakemake.output.features)
