"""The zero-shot baseline on a test split."""

from verified.runtime.job import job

with job(snakemake):
    from verified.config.params import received
    from verified.io.hdf5 import FeatureFile
    from verified.io.jsonl import write_json
    from verified_longform.clip4clip import LABEL, clip_pooling, is_clip4clip
    from verified_longform.config import MovieSet
    from verified_longform.experiment import measure_ranker, retrieve_clips, test_rows, zero_shot_ranker
    from verified_longform.feature_files import LongFeatures
    from verified_longform.grid import Grid

    inputs, params = snakemake.input, snakemake.params
    rows = test_rows(inputs.rows, received(MovieSet, params.movies).test_split)
    grid = received(Grid, params.grid)
    features = LongFeatures(FeatureFile(inputs.frames), sentences=FeatureFile(inputs.sentences))
    metrics = measure_ranker(
        rows,
        grid,
        features,
        zero_shot_ranker(features, grid, params.nms_threshold),
        params.lengths,
        params.iou_cmp,
        "zero-shot",
        snakemake.output.submission,
    )
    metrics["clip_retrieval"] = retrieve_clips(rows, features, grid.fps)
    if params.encoder and is_clip4clip(params.encoder):
        recall = retrieve_clips(rows, features, grid.fps, pool=clip_pooling(grid.fps))
        metrics["clip4clip"] = {"method": LABEL, "recall": recall}
    write_json(snakemake.output.metrics, metrics)
