"""Scenes of the videos of one shard (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.datasets import Proposals
    from verified.config.params import received
    from verified.corpus.scenes import detect_scenes
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_jsonl
    from verified.runtime.previous_output import PreviousOutput, made_with
    from verified.runtime.wildcards import videos_of_shard

    settings, paths = snakemake.params, VideoFolder(snakemake.input.videos).paths
    shard_paths = videos_of_shard(paths, snakemake.wildcards.shard, settings.shards)
    earlier = PreviousOutput(snakemake.output.scenes, made_with(settings, "av", "numpy"))
    rows = detect_scenes(shard_paths, received(Proposals, settings.proposals), earlier.videos)
    write_jsonl(snakemake.output.scenes, rows)
    earlier.keep({row["sha256"]: row for row in rows if "reason" not in row}, link=False)
    for row in rows:
        if "reason" in row:
            log.warning("warning: %s has no scenes: %s (%s)", row["video"], row["detail"], row["reason"])
    log.info("%d scenes in %d videos", sum(len(row["scenes"]) for row in rows), len(rows))
