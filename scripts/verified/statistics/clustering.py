"""Exact DBSCAN on cosine distances by tiles, without a matrix of all pairs.

Same labels as scikit-learn's ``DBSCAN(eps, min_samples, metric="cosine")`` on float32 vectors, up to pairs whose
distance is within float32 rounding of `eps`; a small fraction of its time and memory at tens of thousands of captions.
Points that occur several times enter once with a weight.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from verified.runtime.progress import Progress

TILE = 2048  # rows of a tile: 2048 × 2048 float32 distances are 16 MiB


def dbscan(
    vectors: np.ndarray, eps: float, min_samples: int, weights: Sequence[int] | None = None, label: str | None = None
) -> np.ndarray:
    """DBSCAN labels, int64 [points]: −1 is noise, clusters count from 0 in the order of their first core point.

    `vectors` is [points, dim], any length but not zero; `weights` (int [points], default 1) says how many identical
    points each row represents. A point is core when the weights of all points within cosine distance `eps`, itself
    included, add up to `min_samples`; a point that is not core joins the lowest-numbered cluster with a core point
    within `eps`. `label` names the progress lines. Raises ValueError for a zero or non-finite vector.
    """
    points = len(vectors)
    counts = np.ones(points, np.int64) if weights is None else np.asarray(weights, np.int64)
    first, second = near_pairs(unit(vectors), eps, label)
    mass = counts + np.bincount(first, counts[second], points).astype(np.int64)
    mass += np.bincount(second, counts[first], points).astype(np.int64)
    core = mass >= min_samples
    labels = np.full(points, -1, np.int64)
    if not core.any():
        return labels
    both = core[first] & core[second]
    graph = coo_array((np.ones(both.sum(), np.int8), (first[both], second[both])), shape=(points, points))
    component = connected_components(graph, directed=False)[1]
    # Components of core points, renumbered in the order of their first core points.
    _, first_seen, inverse = np.unique(component[core], return_index=True, return_inverse=True)
    labels[core] = np.argsort(np.argsort(first_seen))[inverse]
    nearest = np.full(points, np.iinfo(np.int64).max)
    for border, owner in ((first, second), (second, first)):
        reached = ~core[border] & core[owner]
        np.minimum.at(nearest, border[reached], labels[owner[reached]])
    border = nearest < np.iinfo(np.int64).max
    labels[border] = nearest[border]
    return labels


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1, float32 [points, dim]. Raises ValueError for a row without a direction."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("a vector is zero or not finite: it has no direction to compare")
    return vectors / lengths


def nearest_distances(vectors: np.ndarray) -> np.ndarray:
    """Cosine distance of each row to the nearest other one, float32 [points]; infinite if there is no other."""
    vectors = unit(vectors)
    nearest = np.full(len(vectors), np.inf, np.float32)
    for row in range(0, len(vectors), TILE):
        for column in range(0, len(vectors), TILE):
            distances = np.float32(1) - vectors[row : row + TILE] @ vectors[column : column + TILE].T
            if row == column:
                np.fill_diagonal(distances, np.inf)
            np.minimum(nearest[row : row + TILE], distances.min(axis=1), out=nearest[row : row + TILE])
    return nearest


def near_pairs(vectors: np.ndarray, eps: float, label: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All pairs first < second of unit `vectors` [n, dim] with 1 − cosine ≤ eps in float32: two int64 [pairs]."""
    points = len(vectors)
    starts = range(0, points, TILE)
    progress = Progress(label, len(starts) * (len(starts) + 1) // 2, "tiles") if label else None
    firsts, seconds = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for row in starts:
        for column in range(row, points, TILE):
            distances = vectors[row : row + TILE] @ vectors[column : column + TILE].T
            np.subtract(np.float32(1), distances, out=distances)
            if distances.min() <= np.float32(eps):
                left, right = np.nonzero(distances <= np.float32(eps))
                keep = left + row < right + column
                firsts.append(left[keep] + row)
                seconds.append(right[keep] + column)
            if progress:
                progress.step()
    if progress:
        progress.finish()
    return np.concatenate(firsts), np.concatenate(seconds)
