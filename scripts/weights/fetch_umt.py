"""Fetch UMT's checkpoint (see rules/weights.smk)."""

from verified.runtime.job import job

with job(snakemake, online=True):
    from verified.config import load
    from verified.weights.umt import fetch_umt

    settings = load(snakemake.config)
    fetch_umt(settings.evaluator, settings.weights.lock)
