"""Vectors by the role `embed`: of a frame, or a clip, for every few seconds of a video, and of windows."""

import logging
import math
from collections.abc import Mapping

import numpy as np

from verified.captions.clips import Clips, uniform
from verified.config.datasets import Spans
from verified.config.generation import EmbedSettings
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING
from verified_field.embedding import shown_call, stack

log = logging.getLogger("verified")

NO_VECTOR = -2.0
"""Score of a window without any vector, below every cosine."""


def pieces(duration: float, step_seconds: float) -> list[tuple[float, float]]:
    """The parts (start, end) of a video of `duration` seconds that have a vector each; the last may be shorter."""
    count = max(1, math.ceil(duration / step_seconds - 1e-6))
    return [(n * step_seconds, min((n + 1) * step_seconds, duration)) for n in range(count)]


def piece_calls(videos: Mapping[str, dict], settings: EmbedSettings, session: Session) -> list[tuple[str, Call]]:
    """(video, call) for every piece of every video, in order; `videos` are rows of videos.jsonl by id."""
    spans = [
        {"video": video, "start": start, "end": end}
        for video, row in videos.items()
        for start, end in pieces(row["duration"], settings.step_seconds)
    ]
    frames = settings.clip_frames if settings.shows == "clips" else 1
    form = settings.video_input if frames > 1 else "stills"
    calls = Clips(spans, videos, uniform(frames), settings.frame_side).calls(
        form,
        session.has_answer,
        lambda _, digest, load: shown_call(session, frames, digest, load),
    )
    return list(zip((span["video"] for span in spans), calls))


def embed_videos(videos: Mapping[str, dict], settings: EmbedSettings, session: Session) -> dict[str, np.ndarray]:
    """Vectors [pieces, dim] of length 1 by video, float32; zeros where a piece has no answer."""
    calls = piece_calls(videos, settings, session)
    vectors = stack(session.ask(EMBEDDING, (call for _, call in calls), len(calls)))
    owners = [video for video, _ in calls]
    rows: dict[str, list[int]] = {}
    for number, video in enumerate(owners):
        rows.setdefault(video, []).append(number)
    if lost := int((~vectors.any(axis=1)).sum()):
        log.warning("%d of %d pieces of video have no vector", lost, len(vectors))
    return {video: vectors[numbers] for video, numbers in rows.items()}


def windows(pieces: int, step_seconds: float, spans: Spans) -> np.ndarray:
    """[W, 2] first piece and the one behind the last, for all lengths that `spans` allows; a shorter video is one."""
    shortest = max(1, round(spans.min_pred_clips * spans.clip_seconds / step_seconds))
    longest = max(shortest, round(spans.max_pred_clips * spans.clip_seconds / step_seconds))
    lengths = range(min(shortest, pieces), min(longest, pieces) + 1)
    return np.array([(first, first + n) for n in lengths for first in range(pieces - n + 1)])


def window_scores(vectors: np.ndarray, queries: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Cosines [Q, W] of `queries` [Q, dim] with the mean vectors of the windows [W, 2] over `vectors` [pieces, dim].

    Pieces without a vector are ignored; a window of only such pieces scores `NO_VECTOR`.
    """
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors.astype(np.float64), axis=0)])
    means = sums[spans[:, 1]] - sums[spans[:, 0]]
    lengths = np.linalg.norm(means, axis=1)
    scores = queries.astype(np.float64) @ (means / np.maximum(lengths, 1e-9)[:, None]).T
    return np.where(lengths < 1e-6, NO_VECTOR, scores)
