"""Render the synthetic videos of a data set (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.demo.source import render_demo

    output, params = snakemake.output, snakemake.params
    render_demo(params.source, params.seed, output.videos, output.moments, output.truth, snakemake.threads)
