"""The questions across time as a folder for others, with card, licence and Croissant (see rules.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.jsonl import read_jsonl
    from verified_rextime.export import write_questions_export

    splits = {Path(path).stem: read_jsonl(path) for path in snakemake.input.questions}
    written = write_questions_export(Path(snakemake.output[0]), snakemake.params.about, splits)
    log.info("%s", written.counts())
