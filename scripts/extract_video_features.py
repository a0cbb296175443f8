"""Encode the videos of one shard (see rules/features.smk)."""

from verified.common.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.common.jsonl import read_jsonl
    from verified.common.shards import rows_of_shard
    from verified.features.video import write_video_features

    videos = rows_of_shard(read_jsonl(snakemake.input.videos), snakemake.wildcards.shard, snakemake.params.shards)
    write_video_features(videos, snakemake.params.settings, snakemake.params.clip_seconds, snakemake.output.features)
