"""Probe the videos of one shard and list its moments (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.corpus.assemble import write_shard
    from verified.runtime.previous_output import made_with

    files, output = dict(snakemake.input.items()), dict(snakemake.output.items())
    maker = made_with({"code": snakemake.params.code}, "av")
    write_shard(snakemake.params.source, files, snakemake.wildcards.shard, snakemake.params.shards, output, maker)
