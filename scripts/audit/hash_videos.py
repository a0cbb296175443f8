"""Hashes of whole videos (see rules/audit.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.audit.hashes import hash_videos
    from verified.io.jsonl import read_jsonl, write_json

    hashes = dict(hash_videos(read_jsonl(snakemake.input.videos)))
    write_json(snakemake.output.hashes, hashes)
    log.info("%d videos", len(hashes))
