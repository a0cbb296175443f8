"""Render the demo's films and their described tracks (see rules/longform.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.demo.films import render_films

    params = snakemake.params
    render_films(params.films["source"], round(params.fps), params.seed, snakemake.output.source)
