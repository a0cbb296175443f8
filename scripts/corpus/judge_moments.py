"""The table of one shard: measures of its moments, and which limits they do not keep (see rules/quality.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.datasets import Quality
    from verified.quality.select import judge_shard

    inputs, quality = snakemake.input, Quality(**snakemake.params.quality)
    judge_shard(inputs.measures, inputs.transcripts, inputs.measures_of_all, quality, snakemake.output.quality)
