"""Leave out the moments of one shard that do not keep the limits of quality (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified_lab.config import Quality
    from verified_lab.quality.select import select_shard

    files, output = dict(snakemake.input.items()), dict(snakemake.output.items())
    select_shard(files, received(Quality, snakemake.params.quality), output)
