"""Decode the frames of a shard's moments once (see rules/evaluator.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.evaluator.clips import gather_clips
    from verified.io.jsonl import read_jsonl
    from verified.runtime.previous_output import made_with

    params = snakemake.params
    moments = read_jsonl(snakemake.input.moments)
    videos = read_jsonl(snakemake.input.videos)
    counts = gather_clips(
        moments,
        videos,
        **params.clips,
        clips=snakemake.output.clips,
        index=snakemake.output.index,
        maker=made_with(params, "av", "decord", "numpy") if params.keep else "",
    )
    for reason, count in sorted(counts.items()):
        log.info("%d moments %s", count, f"without a clip: {reason}" if reason else "with a clip")
