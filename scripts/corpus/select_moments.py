"""Leave out the moments of one shard that do not keep the limits of quality (see rules/quality.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.datasets import Quality
    from verified.quality.select import select_shard

    names = ("moments", "videos", "probes", "measures")
    files = {name: snakemake.input[name] for name in names}
    output = dict(snakemake.output.items())
    inputs, quality = snakemake.input, Quality(**snakemake.params.quality)
    select_shard(files, inputs.transcripts, inputs.measures_of_all, quality, output)
