"""Locate a short clip in its movie by frame features (section 3.2: LSMDC's clips in the full movies)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from verified.errors import InputError
from verified.io.jsonl import is_span

LENGTHS = 10
"""Windows around a clip's middle that vote on its place."""
LEAST_SHARE, LEAST_AGREEMENT, LEAST_SIMILARITY = 0.3, 0.8, 0.8
"""Share of the clip that the shortest window has; share of windows that must agree; cosine with the movie's frames."""


@dataclass(frozen=True)
class Place:
    """first: frame of the movie at which the clip starts, the median over window lengths; None if refused.

    firsts: result of each window length. agreement: share of them within a frame of the median. similarity: mean cosine
    of the clip's frames with the movie's at the median.
    """

    first: int | None
    firsts: tuple[int, ...]
    agreement: float
    similarity: float
    reason: str = ""


def locate_clip(movie: np.ndarray, clip: np.ndarray) -> Place:
    """Find `clip` [m, dim] in `movie` [n, dim], frames at the same rate.

    The cross-correlation is the sum of dot products of L2-normalised frames. Windows around the clip's middle, from
    `LEAST_SHARE` of it to all of it, vote. The paper always uses their median; here a clip is refused if fewer than
    `LEAST_AGREEMENT` of them agree with it, if the similarity of the aligned frames is below `LEAST_SIMILARITY`, and if
    it is longer than the movie.
    """
    if not len(clip) or len(clip) > len(movie):
        return Place(None, (), 0.0, 0.0, f"the clip has {len(clip)} frames, the movie {len(movie)}")
    products = _unit(movie) @ _unit(clip).T  # [n, m]
    offsets = len(movie) - len(clip) + 1
    # Column j moved up by j: row τ then holds the product of movie frame τ + j with clip frame j.
    shifted = np.stack([products[j : j + offsets, j] for j in range(len(clip))], axis=1)
    sums = np.concatenate([np.zeros((offsets, 1)), np.cumsum(shifted, axis=1)], axis=1)
    firsts = []
    for share in np.linspace(LEAST_SHARE, 1.0, LENGTHS):
        window = max(1, round(share * len(clip)))
        begin = (len(clip) - window) // 2
        firsts.append(int((sums[:, begin + window] - sums[:, begin]).argmax()))
    middle = int(np.median(firsts))
    agreement = float(np.mean(np.abs(np.array(firsts) - middle) <= 1))
    similarity = float(sums[middle, -1] / len(clip))
    refused = ""
    if agreement < LEAST_AGREEMENT:
        refused = f"window lengths disagree: {', '.join(map(str, sorted(set(firsts))))}"
    elif similarity < LEAST_SIMILARITY:
        refused = f"the movie's frames there are not the clip's: mean cosine {similarity:.2f}"
    return Place(None if refused else middle, tuple(firsts), agreement, similarity, refused)


def retime(row: dict, clip_start: float, clip_seconds: float, movie_seconds: float, file: Path, number: int) -> dict:
    """The row of `annotations` for a sentence of a clip that begins `clip_start` seconds into its movie (LSMDC-G).

    row: ``clip``, ``movie``, ``sentence``; ``start``, ``end`` in seconds of the clip, else all of it; ``split``, else
    test. Raises InputError with file and row for times that are no span, or another split.
    """
    span = [row.get("start", 0.0), row.get("end", clip_seconds)]
    if not is_span(span) or span[1] <= span[0]:
        raise InputError(f"start and end are {span!r:.60}", file=file, row=number, remedy="give seconds of the clip")
    if row.get("split", "test") not in ("train", "val", "test"):
        raise InputError(f"split {row['split']!r:.40}", file=file, row=number, remedy="name train, val or test")
    return {
        "id": f"{row['clip']}-{number:05d}",
        "movie": row["movie"],
        "sentence": row["sentence"],
        "duration": round(movie_seconds, 3),
        "start": round(clip_start + span[0], 3),
        "end": round(min(movie_seconds, clip_start + span[1]), 3),
        "split": row.get("split", "test"),
    }


def _unit(features: np.ndarray) -> np.ndarray:
    features = features.astype(np.float64)
    return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
