"""A trained VLG-Net on a test split."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads):
    from pathlib import Path

    from verified.config.params import received
    from verified.io.hdf5 import FeatureFile
    from verified.io.jsonl import write_json
    from verified_longform.config import MovieSet
    from verified_longform.experiment import measure_ranker, test_rows, vlg_ranker
    from verified_longform.feature_files import LongFeatures
    from verified_longform.grid import Grid

    inputs, params = snakemake.input, snakemake.params
    rows = test_rows(inputs.rows, received(MovieSet, params.movies).test_split)
    grid = received(Grid, params.grid)
    features = LongFeatures(FeatureFile(inputs.frames), FeatureFile(inputs.tokens))
    metrics = measure_ranker(
        rows,
        grid,
        features,
        vlg_ranker(inputs.checkpoint, features, grid, params.nms_threshold, params.search_batch),
        params.lengths,
        params.iou_cmp,
        f"vlg-net trained on {Path(inputs.checkpoint).parent.name}",
        snakemake.output.submission,
    )
    write_json(snakemake.output.metrics, metrics)
