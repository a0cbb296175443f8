"""Compare a collection of the demo with its planted truth."""

from verified.runtime.job import job

with job(snakemake):
    from pathlib import Path

    from verified.io.jsonl import read_json, write_json
    from verified_longform.annotations import read_mad
    from verified_longform.collection import against_truth

    folder = Path(snakemake.input.rows)
    rows = read_mad(folder / "train.json", "train")
    truth = read_json(Path(snakemake.input.source, "truth.json"))
    write_json(snakemake.output.check, against_truth(rows, read_json(folder / "report.json"), truth))
