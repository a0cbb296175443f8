"""Dense retrieval without training: windows of a video by the cosine of their mean vector with that of the query.

A window is any run of pieces whose length the data set's spans allow; a video scores as its best window. Windows over
one place are similar, so overlapping ones are suppressed before lists are cut to 100 rows, as MAD's zero-shot baseline
does.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.lists import NO_VIDEO, Lists, suppress
from verified.benchmark.vcmr.data import read_moments
from verified.benchmark.vcmr.metrics import DEPTH, TASKS
from verified.benchmark.vcmr.testing import write_test
from verified.config.datasets import Spans
from verified.config.generation import EmbedSettings
from verified.errors import InputError
from verified.io.hdf5 import FeatureFile, write_features
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING
from verified_field.embedded import embed_videos, window_scores, windows
from verified_field.embedding import embed_settings, embed_texts

BEFORE_NMS = 4 * DEPTH
"""Windows of a query that NMS chooses from."""
QUERIES_AT_ONCE = 512


def dense_lists(
    queries: np.ndarray,
    videos: Sequence[np.ndarray],
    durations: Sequence[float],
    own: np.ndarray,
    step_seconds: float,
    spans: Spans,
) -> dict[str, Lists]:
    """Lists by task of queries [Q, dim] over vectors [pieces, dim] of V videos; `own` [Q] is the true video of each.

    A query without a vector (zeros) has empty lists.
    """
    chunks = []
    for at in range(0, len(queries), QUERIES_AT_ONCE):
        some = slice(at, at + QUERIES_AT_ONCE)
        chunks.append(_chunk(queries[some], videos, durations, own[some], step_seconds, spans))
    return {task: _join([chunk[task] for chunk in chunks]) for task in TASKS}


def _chunk(
    queries: np.ndarray,
    videos: Sequence[np.ndarray],
    durations: Sequence[float],
    own: np.ndarray,
    step: float,
    spans: Spans,
) -> dict[str, Lists]:
    columns = np.asarray(queries.any(axis=1))
    best, nearness = _empty_lists(len(queries)), np.full((len(queries), len(videos)), -np.inf)
    alone = _empty_lists(len(queries))
    for number, vectors in enumerate(videos):
        bounds = windows(len(vectors), step, spans)
        scores = window_scores(vectors, queries, bounds)
        nearness[:, number] = scores.max(axis=1)
        times = np.minimum(bounds * step, durations[number])
        shape = scores.shape
        start, end = (np.broadcast_to(times[:, side], shape) for side in (0, 1))
        rows = Lists(np.full(shape, number), start, end, scores)
        best = _best(best, rows)
        mine: np.ndarray = np.equal(own, number)
        if mine.any():
            only = _best(_empty_lists(int(mine.sum())), rows.take(mine))
            for name, column in vars(alone).items():
                column[mine] = getattr(only, name)
    order = np.argsort(-nearness, axis=1, kind="stable")[:, :DEPTH]
    zeros = np.zeros(order.shape)
    by_video = Lists(order, zeros, zeros, np.take_along_axis(nearness, order, axis=1))
    silenced = [
        Lists(np.where(columns[:, None], lists.video, NO_VIDEO), lists.start, lists.end, lists.score)
        for lists in (suppress(best, spans.nms_threshold, None), suppress(alone, spans.nms_threshold, None), by_video)
    ]
    return dict(zip(TASKS, silenced))


def _empty_lists(queries: int) -> Lists:
    shape = queries, BEFORE_NMS
    return Lists(np.full(shape, NO_VIDEO), np.zeros(shape), np.zeros(shape), np.full(shape, -np.inf))


def _best(lists: Lists, more: Lists) -> Lists:
    """The best rows of both, as many as `lists` has; of equal scores those of `lists` first."""
    whole = [np.concatenate(columns, axis=1) for columns in zip(vars(lists).values(), vars(more).values())]
    order = np.argsort(-whole[3], axis=1, kind="stable")[:, : lists.video.shape[1]]
    return Lists(*(np.take_along_axis(column, order, axis=1) for column in whole))


def _join(chunks: list[Lists]) -> Lists:
    width = max(chunk.video.shape[1] for chunk in chunks)
    padded = [
        Lists(
            *(
                np.pad(column, ((0, 0), (0, width - column.shape[1])), constant_values=fill)
                for column, fill in zip(vars(chunk).values(), (NO_VIDEO, 0.0, 0.0, -np.inf))
            )
        )
        for chunk in chunks
    ]
    return Lists.join(padded)


def test_dense(
    test: str,
    videos: Mapping[str, dict],
    features: Sequence[str],
    session: Session,
    spans: Spans,
    facts: Mapping[str, Any],
    outputs: tuple[str, str, str],
) -> None:
    """Rank the test split by vectors, and write `outputs` as `results.write_test` does.

    `test` is the annotation file, `videos` the rows of videos.jsonl by id, `features` the shards' vectors. Raises
    InputError for a video without vectors.
    """
    settings = embed_settings(session.settings)
    moments = read_moments(test, facts["tested_on"])
    files = [FeatureFile(path) for path in features]
    vectors = []
    for video in moments.videos:
        holder = next((file for file in files if video in file), None)
        if holder is None:
            raise InputError(
                f"the video {video!r} has no vectors", file=features[0], remedy="run again with --forcerun embed_videos"
            )
        vectors.append(holder[video])
    queries = embed_texts(moments.caption, session)
    durations = [videos[video]["duration"] for video in moments.videos]
    lists = dense_lists(queries, vectors, durations, moments.video, settings.step_seconds, spans)
    calls = session.outcome_counts()[EMBEDDING.name]
    lost = int((~queries.any(axis=1)).sum())
    more = {"parameters": 0, "unanswered": session.settle(), "queries_without_vector": lost, "calls": calls}
    write_test(lists, moments, spans.nms_threshold, {**facts, **more}, outputs)


def write_embedded(
    videos: Mapping[str, dict], settings: EmbedSettings, session: Session, output: str | Path
) -> dict[str, int]:
    """Write float16 [pieces, dim] per video, with its sha256; counts of pieces and of those without a vector."""
    vectors_of = embed_videos(videos, settings, session)
    dim = max((vectors.shape[1] for vectors in vectors_of.values()), default=0)
    attributes = {"backbone": settings.model, "dim": dim, "step_seconds": settings.step_seconds}

    def items() -> Iterator[tuple[str, np.ndarray, dict]]:
        for video, vectors in vectors_of.items():
            yield video, vectors.astype(np.float16), {"sha256": videos[video]["sha256"]}

    write_features(output, attributes, items())
    every = [vector.any() for vectors in vectors_of.values() for vector in vectors]
    return {"videos": len(vectors_of), "pieces": len(every), "without_vector": every.count(False)}
