"""Collect grounded sentences from described tracks (see rules/longform.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.benchmark.mad.annotations import write_mad
    from verified.benchmark.mad.manifest import collect, read_manifest
    from verified.config.longform import Collection
    from verified.io.jsonl import write_json

    manifest, folder = Path(snakemake.input.manifest), Path(snakemake.output.rows)
    rows, reports = collect(
        read_manifest(manifest / "manifest.csv" if manifest.is_dir() else manifest),
        Collection(**snakemake.params.settings),
    )
    for split, split_rows in rows.items():
        log.info("%s: %d rows", split, write_mad(folder / f"{split}.json", split_rows))
    write_json(folder / "report.json", reports)
