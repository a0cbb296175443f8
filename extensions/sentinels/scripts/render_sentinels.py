"""Render the sentinels, probe their videos and cut their keyframes (see extensions/sentinels/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.threads):
    from pathlib import Path

    from verified.config.datasets import Keyframes
    from verified.config.params import received
    from verified.corpus.folder_source import Reading
    from verified.demo.source import render_demo
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.keyframes.extract import write_keyframes
    from verified.runtime.seeds import derive_seed

    params, output = snakemake.params, snakemake.output
    # A video of 12 seconds has two moments at least.
    source = {"videos": params.number // 2 + 1, "seconds": 12, "fps": 8, "size": params.size}
    source |= {"train_share": 0.5, "val_share": 0.2}
    seed, rendered = derive_seed(params.seed, "sentinels"), Path(f"{output.moments}.rendered.jsonl")
    render_demo(source, seed, output.videos, rendered, output.truth, snakemake.threads)
    write_jsonl(rendered, read_jsonl(rendered)[: params.number])
    corpus = Reading(output.videos, rendered, "test")
    moments = list(corpus.moments())
    videos = list(corpus.videos())
    rendered.unlink()
    write_jsonl(output.moments, moments)
    write_jsonl(output.probed, videos)
    write_keyframes(moments, videos, received(Keyframes, params.keyframes), output.keyframes)
