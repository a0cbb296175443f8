"""The table of one shard: measures of its moments, and which limits they do not keep (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified_lab.config import Quality
    from verified_lab.quality.select import judge_shard

    inputs, quality = snakemake.input, received(Quality, snakemake.params.quality)
    judge_shard(inputs.measures, inputs.transcripts, inputs.measures_of_all, quality, snakemake.output.quality)
