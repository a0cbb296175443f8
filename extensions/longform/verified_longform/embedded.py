"""Movies and sentences by the vectors of the role `embed`, as files of features in MAD's layout."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path

import numpy as np

from verified.features.embedded import embed_videos
from verified.io.hdf5 import write_features
from verified.lmm.embedding import embed_settings, embed_texts
from verified.lmm.session import Session


def write_embedded_movies(
    movies: Mapping[str, dict],
    rows: Sequence[dict],
    fps: float,
    session: Session,
    frames: str | Path,
    sentences: str | Path,
) -> None:
    """Write float16 `frames` [frames, dim] at `fps` per movie, and `sentences` [1, dim] per annotation of `rows`.

    `movies` are rows of videos.jsonl by id. A vector represents all frames of its piece.
    """
    settings = embed_settings(session.settings)
    vectors = embed_videos(movies, settings, session)
    answers = embed_texts([row["sentence"] for row in rows], session)
    attributes = {"backbone": settings.model, "dim": answers.shape[1]}

    def items() -> Iterator[tuple[str, np.ndarray, dict]]:
        for movie, pieces in vectors.items():
            yield movie, spread(pieces, movies[movie]["duration"], fps, settings.step_seconds).astype(np.float16), {}

    write_features(frames, {**attributes, "fps": fps}, items())
    of_rows = ((row["id"], vector[None].astype(np.float16), {}) for row, vector in zip(rows, answers))
    write_features(sentences, attributes, of_rows)


def spread(pieces: np.ndarray, duration: float, fps: float, step_seconds: float) -> np.ndarray:
    """Vectors [pieces, dim] of every `step_seconds` as those of the frames [frames, dim] of `duration` seconds."""
    at = np.arange(max(1, ceil(duration * fps - 1e-6))) / fps
    return pieces[np.minimum((at / step_seconds + 1e-9).astype(int), len(pieces) - 1)]
