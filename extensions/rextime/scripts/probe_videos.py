"""The videos behind the items of one shard (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.runtime.wildcards import group_by_shard, shard_index
    from verified_rextime.config import Rextime
    from verified_rextime.sources import find_videos

    by_shard = group_by_shard(read_jsonl(snakemake.input.rows), snakemake.params.shards)
    items = by_shard[shard_index(snakemake.wildcards.shard)]
    section = received(Rextime, snakemake.params.section)
    videos, missing = find_videos(items, section, snakemake.params.corpora)
    write_jsonl(snakemake.output.videos, videos)
    write_jsonl(snakemake.output.missing, missing)
    log.info("%d videos, %d cannot be used", len(videos), len(missing))
