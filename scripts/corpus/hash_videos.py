"""Hashes of the videos of one shard, by which copies and parts are found (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.corpus.copies import hash_videos
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import videos_of_shard

    paths = VideoFolder(snakemake.input.videos).paths
    shard_paths = videos_of_shard(paths, snakemake.wildcards.shard, snakemake.params.shards)
    rows = [{"video": video, "path": path} for video, path in shard_paths.items()]
    hashes = dict(hash_videos(rows))
    write_json(snakemake.output.hashes, hashes)
    log.info("%d of %d videos", len(hashes), len(rows))
