"""Train one retrieval model (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["retrieval"]["threads"]):
    from verified.benchmark.vcmr.experiment import Settings, locate_weights, train_model
    from verified.config.params import received

    files, settings = locate_weights(dict(snakemake.input.items()), received(Settings, snakemake.params.settings))
    train_model(
        snakemake.wildcards.model,
        snakemake.wildcards.trained_on,
        int(snakemake.wildcards.seed),
        files,
        settings,
        snakemake.output.checkpoint,
        snakemake.output.record,
    )
