"""Encode the movies of one shard."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.encoder["encoder_threads"]):
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
    settings, output = params.encoder, snakemake.output
    name, batch = settings["encoder"], settings["encoder_batch"]
    source, _ = source_of(name, settings["encoder_revision"], inputs.get("weights", []))
    encoder = load_encoder(source, inputs.get("checkpoint"))
    failed = write_movie_features(shard_movies, encoder, name, params.fps, batch, output.features)
    write_json(output.failed, failed)
