"""Encode the movies of one shard."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.encoder["threads"]):
    from pathlib import Path

    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.runtime.wildcards import videos_of_shard
    from verified.weights.records import source_of
    from verified_longform.encoders import load_encoder, write_movie_features

    inputs, params = snakemake.input, snakemake.params
    rendered = Path(inputs.folder, "videos")
    movies = VideoFolder(rendered if rendered.is_dir() else inputs.folder).paths
    shard_movies = videos_of_shard(movies, snakemake.wildcards.shard, params.shards)
    source, _ = source_of(params.encoder["name"], params.encoder["revision"], inputs.get("weights", []))
    encoder = load_encoder(source, inputs.get("checkpoint"))
    failed = write_movie_features(
        shard_movies, encoder, params.encoder["name"], params.fps, params.encoder["batch"], snakemake.output.features
    )
    write_json(snakemake.output.failed, failed)
