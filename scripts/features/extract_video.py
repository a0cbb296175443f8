"""Encode the videos of one shard (see rules/features.smk)."""

import os
from pathlib import Path

from verified.runtime.job import job

with job(snakemake, snakemake.params.features["threads"]):
    from verified.config.features import Features
    from verified.config.params import received
    from verified.features.video import write_video_features
    from verified.io.jsonl import read_jsonl
    from verified.runtime.checksums import measure
    from verified.runtime.previous_output import made_with
    from verified.weights.records import source_of

    videos = read_jsonl(snakemake.input.videos)
    settings = received(Features, snakemake.params.features)
    weights = source_of(settings.video_backbone, settings.video_revision, snakemake.input.weights)
    files = [*snakemake.input.weights, *snakemake.input.network, *filter(os.path.isdir, [weights[0]])]
    digests = [measure(Path(file))["sha256"] for file in files]
    packages = ("av", "decord", "h5py", "numpy", "torch", "transformers")
    maker = made_with(snakemake.params, *packages, weights=[weights, digests])
    write_video_features(videos, settings, snakemake.params.clip_seconds, snakemake.output.features, weights, maker)
