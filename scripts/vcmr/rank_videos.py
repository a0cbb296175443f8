"""Rank the videos of a corpus for every query with a trained XML (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.benchmark.vcmr.experiment import rank_videos

    rank_videos(
        dict(snakemake.input.items()), snakemake.params.captions, snakemake.params.settings, snakemake.output.ranked
    )
