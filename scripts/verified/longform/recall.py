"""R@K-IoU=θ over the queries of long films, with intervals over films and queries."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from verified.common.seeds import generator
from verified.longform.overlap import iou

KS = (1, 5, 10, 50, 100)
IOUS = (0.1, 0.3, 0.5)
DEPTH = KS[-1]
Comparison = Literal["gt", "ge"]
"""``gt`` counts IoU > θ (the paper's text, the zero-shot script), ``ge`` IoU ≥ θ (VLG-Net's evaluator)."""


def first_hits(
    predictions: Sequence[np.ndarray],
    moments: np.ndarray,
    comparison: Comparison = "gt",
    ious: Sequence[float] = IOUS,
) -> np.ndarray:
    """Rank (from 0) of the first prediction of each query that hits, int64 [queries, ious]; `DEPTH` where none does.

    predictions: per query spans [n, 2], best first, of which the first `DEPTH` count. moments: [queries, 2], same unit.
    """
    ranks = np.full((len(moments), len(ious)), DEPTH, np.int64)
    for query, (spans, (start, end)) in enumerate(zip(predictions, moments, strict=True)):
        spans = np.asarray(spans, np.float64).reshape(-1, 2)[:DEPTH]
        overlaps = iou(spans, start, end)
        for column, threshold in enumerate(ious):
            hits = np.flatnonzero(overlaps > threshold if comparison == "gt" else overlaps >= threshold)
            if len(hits):
                ranks[query, column] = hits[0]
    return ranks


def recall(ranks: np.ndarray, ks: Sequence[int] = KS) -> np.ndarray:
    """Fractions [ks, ious] of queries whose first hit is among the best K; NaN without queries."""
    if not len(ranks):
        return np.full((len(ks), ranks.shape[1]), np.nan)
    return np.stack([(ranks < k).mean(axis=0) for k in ks])


def recall_intervals(
    ranks: np.ndarray, films: Sequence, resamples: int, seed: int, ks: Sequence[int] = KS, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Bootstrap interval (low, high), each [ks, ious], over films and, within each drawn film, over its queries.

    `films` [queries] names each query's film. Queries of a film share its scenes and are no independent units.
    """
    hits = np.stack([ranks < k for k in ks], axis=1).astype(np.float64)  # [queries, ks, ious]
    return film_intervals(hits.reshape(len(ranks), -1), films, resamples, seed, level, (len(ks), ranks.shape[1]))


def film_intervals(
    values: np.ndarray, films: Sequence, resamples: int, seed: int, level: float, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The same two-level bootstrap for the mean of any per-query `values` [queries, columns], given as `shape`."""
    if not len(values):
        nothing = np.full(shape, np.nan)
        return nothing, nothing
    _, owner = np.unique(np.asarray(films), return_inverse=True)
    by_film = [values[owner == film] for film in range(owner.max() + 1)]
    random = generator(seed, "longform bootstrap", len(values), resamples)
    means = np.empty((resamples, values.shape[1]))
    for row in range(resamples):
        total, queries = np.zeros(values.shape[1]), 0
        for film in random.integers(0, len(by_film), len(by_film)):
            film_hits = by_film[film]
            counts = np.bincount(random.integers(0, len(film_hits), len(film_hits)), minlength=len(film_hits))
            total += counts @ film_hits
            queries += len(film_hits)
        means[row] = total / queries
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low.reshape(shape), high.reshape(shape)
