"""Rank the videos of a corpus for every query with a trained XML (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["retrieval"]["threads"]):
    from verified.benchmark.vcmr.experiment import Settings, rank_videos
    from verified.config.params import received

    settings = received(Settings, snakemake.params.settings)
    rank_videos(dict(snakemake.input.items()), snakemake.params.captions, settings, snakemake.output.ranked)
