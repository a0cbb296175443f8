"""Fetch UMT's checkpoint (see rules/weights.smk)."""

from verified.runtime.job import job

with job(snakemake, online=True):
    from verified.config.evaluator import Evaluator
    from verified.config.params import received
    from verified.weights.fetch import fetch_umt

    fetch_umt(received(Evaluator, snakemake.params.evaluator), snakemake.params.lock)
