"""Add up the outcomes of all calls of a data set (see rules/outcomes.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.captions.counts import add_up
    from verified.io.jsonl import read_json, write_json

    stages = {name: [read_json(path) for path in files] for name, files in snakemake.input.items()}
    write_json(snakemake.output.outcomes, add_up(stages))
