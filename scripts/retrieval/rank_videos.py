"""Rank the videos of a corpus for every query with a trained XML (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.benchmark.vcmr.experiment import RankingSettings, rank_videos

    settings = RankingSettings(**snakemake.params.settings)
    rank_videos(dict(snakemake.input.items()), snakemake.params.captions, settings, snakemake.output.ranked)
