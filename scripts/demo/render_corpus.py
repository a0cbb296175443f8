"""Render the demo world of a data set (see rules/corpus.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.demo.source import render_demo

    output = snakemake.output
    render_demo(snakemake.params.source, snakemake.params.seed, output.videos, output.moments, output.truth)
