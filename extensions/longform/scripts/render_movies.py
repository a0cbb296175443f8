"""Render the demo's movies and their described tracks."""

from verified.runtime.job import job

with job(snakemake):
    from verified_longform.demo_movies import render_movies

    params = snakemake.params
    render_movies(params.movies["source"], round(params.fps), params.seed, snakemake.output.source)
