"""Join the collections of single movies into one."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.io.jsonl import read_json, write_json
    from verified_longform.annotations import write_mad
    from verified_longform.manifest import join_parts

    folder = Path(snakemake.output.rows)
    rows, reports = join_parts(map(read_json, snakemake.input.parts))
    for split, split_rows in rows.items():
        log.info("%s: %d rows", split, write_mad(folder / f"{split}.json", split_rows))
    write_json(folder / "report.json", reports)
