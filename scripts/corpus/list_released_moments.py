"""List the moments of a finished collection (see rules/released.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.fig import read_splits
    from verified.io.jsonl import write_jsonl
    from verified.released.collections import moments_of

    all_moments, all_exclusions = [], []
    for path in snakemake.input.annotations:
        moments, exclusions, clamped = moments_of(read_splits([path]), Path(path).stem)
        all_moments += moments
        all_exclusions += exclusions
        log.info("%s: %d moments, %d clamped, %d excluded", path, len(moments), clamped, len(exclusions))
    write_jsonl(snakemake.output.moments, all_moments)
    write_jsonl(snakemake.output.exclusions, all_exclusions)
