"""Train one retrieval model (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["threads"]):
    from verified.benchmark.vcmr.experiment import TrainingSettings, locate_weights, train_model

    files, settings = locate_weights(dict(snakemake.input.items()), TrainingSettings(**snakemake.params.settings))
    train_model(
        snakemake.wildcards.model,
        snakemake.wildcards.trained_on,
        int(snakemake.wildcards.seed),
        files,
        settings,
        snakemake.output.checkpoint,
        snakemake.output.record,
    )
