"""Hashes of the videos of one shard, by which copies and parts are found (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.corpus.copies import hash_videos
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import shard_index, shard_of

    wanted, shards = shard_index(snakemake.wildcards.shard), snakemake.params.shards
    paths = VideoFolder(snakemake.input.videos).paths
    rows = [{"video": video, "path": paths[video]} for video in sorted(paths) if shard_of(video, shards) == wanted]
    hashes = dict(hash_videos(rows))
    write_json(snakemake.output.hashes, hashes)
    log.info("%d of %d videos", len(hashes), len(rows))
