"""Measure the quality of one shard's moments before any model call (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified.io.jsonl import read_jsonl, write_jsonl
    from verified.runtime.previous_output import PreviousOutput, made_with
    from verified_lab.config import Quality
    from verified_lab.quality.measure import measure_moments

    inputs, output = snakemake.input, snakemake.output.measures
    maker = made_with(snakemake.params, "av", "numpy", "opencv-python-headless", "rapidocr", "onnxruntime")
    rows = measure_moments(
        read_jsonl(inputs.moments),
        read_jsonl(inputs.videos),
        received(Quality, snakemake.params.quality),
        PreviousOutput(output, maker),
    )
    write_jsonl(output, rows)
