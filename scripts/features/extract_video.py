"""Encode the videos of one shard (see rules/features.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.config.features import VideoFeatures
    from verified.features.video import write_video_features
    from verified.io.jsonl import read_jsonl
    from verified.runtime.shards import rows_of_shard
    from verified.weights.records import source_of

    videos = rows_of_shard(read_jsonl(snakemake.input.videos), snakemake.wildcards.shard, snakemake.params.shards)
    settings = VideoFeatures(**snakemake.params.settings)
    weights = source_of(settings.video_backbone, settings.video_revision, snakemake.input.weights)
    write_video_features(videos, settings, snakemake.params.clip_seconds, snakemake.output.features, weights)
