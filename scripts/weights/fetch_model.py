"""Fetch one model of the hub (see rules/weights.smk)."""

from verified.runtime.job import job

with job(snakemake, online=True):
    from verified.config import load
    from verified.io.jsonl import write_json
    from verified.weights.fetch import fetch_model
    from verified.weights.wanted import wanted_models

    settings = load(snakemake.config)
    wanted = next(model for model in wanted_models(settings) if model.slug == snakemake.wildcards.model)
    write_json(snakemake.output.record, fetch_model(wanted, settings.weights))
