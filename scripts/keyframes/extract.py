"""Extract the keyframes of one shard (see rules/keyframes.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.datasets import Keyframes
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl
    from verified.keyframes.extract import write_keyframes
    from verified.runtime.previous_output import made_with

    moments = read_jsonl(snakemake.input.moments)
    settings = received(Keyframes, snakemake.params.settings)
    maker = made_with(snakemake.params, "av", "decord", "numpy", "pillow", "scenedetect-headless")
    write_keyframes(moments, read_jsonl(snakemake.input.videos), settings, snakemake.output.keyframes, maker)
