"""Extract the keyframes of one shard (see rules/keyframes.smk)."""

from verified.common.job import job

with job(snakemake):
    from verified.common.jsonl import read_jsonl
    from verified.common.shards import rows_of_shard
    from verified.keyframes import write_keyframes

    moments = rows_of_shard(read_jsonl(snakemake.input.moments), snakemake.wildcards.shard, snakemake.params.shards)
    write_keyframes(moments, read_jsonl(snakemake.input.videos), snakemake.params.settings, snakemake.output.keyframes)
