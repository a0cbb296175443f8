"""R@K-IoU=θ over the queries of long movies, with intervals over movies."""

from collections.abc import Sequence

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.tiou import Comparison, first_ranks, hits, tiou

KS = (1, 5, 10, 50, 100)
IOUS = (0.1, 0.3, 0.5)
DEPTH = KS[-1]


def first_hits(predictions: Sequence[np.ndarray], moments: np.ndarray, iou_cmp: Comparison = "gt") -> np.ndarray:
    """Rank of the first prediction of each query that hits, [queries, IOUS], as of `first_ranks`.

    predictions: per query spans [n, 2], best first, of which the first `DEPTH` count. moments: [queries, 2], same unit.
    In float32, as the official scripts compute: on a grid of 0.4 s, whether an IoU of 0.5 is exceeded depends on it.
    """
    ranks = np.zeros((len(moments), len(IOUS)))
    thresholds = np.asarray(IOUS, np.float32)[:, None]
    moments = np.asarray(moments, np.float32)
    for query, (spans, (start, end)) in enumerate(zip(predictions, moments, strict=True)):
        spans = np.asarray(spans, np.float32).reshape(-1, 2)[:DEPTH]
        ranks[query] = first_ranks(hits(tiou(start, end, *spans.T), thresholds, iou_cmp))
    return ranks


def mean_over_movies(values: np.ndarray, movies: Sequence) -> dict[str, list]:
    """Means of `values` [queries, ...] within 0 and 1, in percent: ``recall``, and 95 % intervals ``low``, ``high``
    over movies, drawn with all of their queries; ``intra_class``: the correlation of queries of a movie, [...].

    `movies` [queries] names each query's movie. None if undefined, of a single movie for example.
    """
    numbers = mean_of_training(values, movies, unit=100)
    return {"recall": numbers.pop("value"), **numbers}


def recall_over_movies(ranks: np.ndarray, movies: Sequence) -> dict[str, list]:
    """`mean_over_movies` of the queries whose first hit is among the best K, [KS][IOUS]."""
    return mean_over_movies(np.stack([ranks <= k for k in KS], axis=1), movies)
