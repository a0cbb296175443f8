"""Test one trained retrieval model (see rules/retrieval.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.settings["retrieval"]["threads"]):
    from verified.benchmark.vcmr.experiment import Settings, locate_weights, test_model
    from verified.benchmark.vcmr.results import SETTINGS
    from verified.config.params import received
    from verified.runtime.wildcards import key_of

    wildcards = snakemake.wildcards
    files, settings = locate_weights(dict(snakemake.input.items()), received(Settings, snakemake.params.settings))
    facts = {
        "dataset": key_of(wildcards.dataset),
        "model": wildcards.model,
        "trained_on": wildcards.trained_on,
        "tested_on": wildcards.tested_on,
        "seed": int(wildcards.seed),
        "split": settings.spans.test_split,
        SETTINGS: snakemake.params.settings_sha256,
    }
    test_model(
        files,
        facts,
        settings,
        snakemake.output.submission,
        snakemake.output.metrics,
        snakemake.output.queries,
    )
