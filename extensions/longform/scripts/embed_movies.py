"""Vectors of the test movies of a data set and of their sentences."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from pathlib import Path

    from verified.config.generation import Generation
    from verified.config.params import received
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import read_jsonl, write_json
    from verified.io.video import probe
    from verified.lmm.session import Session
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified.weights.records import locate_models
    from verified_longform.config import MovieSet
    from verified_longform.embedded import write_embedded_movies
    from verified_longform.experiment import test_rows

    inputs, params, output = snakemake.input, snakemake.params, snakemake.output
    generation = locate_models(received(Generation, params.generation), inputs.weights)
    rows = test_rows(inputs.rows, MovieSet(**params.movies).test_split)
    wanted = sorted({row["movie"] for row in rows})
    if inputs.get("videos"):
        movies = {row["video"]: row for row in read_jsonl(inputs.videos) if row["video"] in wanted}
    else:
        rendered = Path(inputs.folder, "videos")
        paths = VideoFolder(rendered if rendered.is_dir() else inputs.folder).paths
        movies = {movie: {"path": str(paths[movie]), **probe(paths[movie])} for movie in wanted}
    with Session(generation, 0, (EMBEDDING,)) as session:
        write_embedded_movies(movies, rows, params.fps, session, output.frames, output.sentences)
        counts = {"calls": session.outcome_counts(), "unanswered": session.settle()}
    write_json(output.counts, {"movies": len(movies), **counts, "asked_in": params.asked_in})
    log.info("%d movies", len(movies))
