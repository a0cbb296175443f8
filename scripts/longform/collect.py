"""Collect grounded sentences from the tracks of a movie (see rules/longform.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.benchmark.mad.collection import collect_part
    from verified.config.longform import Collection
    from verified.io.jsonl import write_json

    manifest = Path(snakemake.input.manifest)
    collected = collect_part(
        manifest / "manifest.csv" if manifest.is_dir() else manifest,
        snakemake.wildcards.part,
        Collection(**snakemake.params.settings),
    )
    write_json(snakemake.output.part, collected)
