"""The videos behind the items of one shard (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.runtime.wildcards import rows_of_shard
    from verified_rextime.config import Rextime
    from verified_rextime.sources import find_videos

    items = rows_of_shard(read_jsonl(snakemake.input.rows), snakemake.wildcards.shard, snakemake.params.shards)
    section = received(Rextime, snakemake.params.section)
    videos, missing = find_videos(items, section, snakemake.params.corpora)
    write_jsonl(snakemake.output.videos, videos)
    write_jsonl(snakemake.output.missing, missing)
    log.info("%d videos, %d cannot be used", len(videos), len(missing))
