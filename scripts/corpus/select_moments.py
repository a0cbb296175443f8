"""Leave out the moments of one shard that do not keep the limits of quality (see rules/quality.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.datasets import Quality
    from verified.quality.select import select_shard

    files, output = dict(snakemake.input.items()), dict(snakemake.output.items())
    select_shard(files, Quality(**snakemake.params.quality), output)
