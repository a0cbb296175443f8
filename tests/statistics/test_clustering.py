"""Exact DBSCAN by tiles against scikit-learn."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

from verified.statistics import clustering
from verified.statistics.clustering import dbscan, near_pairs, unit


def clustered_points(seed: int, points: int, centres: int, spread: float, dim: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=(centres, dim))
    return (middle[rng.integers(centres, size=points)] + spread * rng.normal(size=(points, dim))).astype(np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    points=st.integers(1, 120),
    spread=st.sampled_from([0.02, 0.1, 0.3]),
    eps=st.sampled_from([0.002, 0.01, 0.05]),
    min_samples=st.sampled_from([1, 2, 3, 5, 16]),
)
@settings(max_examples=150, deadline=None)
def test_labels_equal_scikit_learn(seed, points, spread, eps, min_samples):
    vectors = clustered_points(seed, points, 6, spread)
    expected = DBSCAN(eps=eps, min_samples=min_samples, metric="cosine").fit(vectors).labels_
    assert (dbscan(vectors, eps, min_samples) == expected).all()


@given(
    seed=st.integers(0, 2**32 - 1),
    points=st.integers(1, 60),
    min_samples=st.sampled_from([2, 3, 5, 8]),
)
@settings(max_examples=80, deadline=None)
def test_weights_equal_repeated_points(seed, points, min_samples):
    vectors = clustered_points(seed, points, 5, 0.1)
    weights = np.random.default_rng(seed).integers(1, 5, size=points)
    expected = DBSCAN(eps=0.01, min_samples=min_samples, metric="cosine").fit(vectors, sample_weight=weights).labels_
    assert (dbscan(vectors, 0.01, min_samples, weights) == expected).all()


def test_tiles_do_not_change_the_pairs(monkeypatch):
    vectors = unit(clustered_points(0, 500, 20, 0.05))
    whole = set(zip(*near_pairs(vectors, 0.01)))
    monkeypatch.setattr(clustering, "TILE", 64)
    tiled = set(zip(*near_pairs(vectors, 0.01)))
    assert whole == tiled and whole
    assert all(first < second for first, second in whole)


def test_a_border_point_joins_the_first_of_two_clusters():
    # 4.2° is within 3.95° of 0.3° and of 8.1° only: with itself three points, one too few to be core.
    angles = np.deg2rad([0.0, 0.1, 0.2, 0.3, 4.2, 8.1, 8.2, 8.3, 8.4])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    eps = 1 - np.cos(np.deg2rad(3.95))
    for order, expected in ((slice(None), [0, 0, 0, 0, 0, 1, 1, 1, 1]), (slice(None, None, -1), [0] * 5 + [1] * 4)):
        assert dbscan(points[order], eps, 4).tolist() == expected
        assert DBSCAN(eps=eps, min_samples=4, metric="cosine").fit(points[order]).labels_.tolist() == expected
