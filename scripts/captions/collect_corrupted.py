"""Join the records of corrupted candidates of the demo's engine (see rules/captions.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.io.jsonl import read_jsonl, write_jsonl

    rows = [row for path in (snakemake.input.statics, snakemake.input.dynamics) for row in read_jsonl(path)]
    write_jsonl(snakemake.output.corrupted, rows)
