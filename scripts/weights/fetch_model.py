"""Fetch one model of the hub (see rules/weights.smk)."""

from verified.runtime.job import job

with job(snakemake, online=True):
    from verified.config.model import Weights
    from verified.config.params import received
    from verified.io.jsonl import write_json
    from verified.weights.fetch import fetch_model
    from verified.weights.records import Wanted

    weights = received(Weights, snakemake.params.weights)
    write_json(snakemake.output.record, fetch_model(Wanted(*snakemake.params.model), weights))
