"""Clusters of captions: many-to-many captions (Table 2, supplement Table 2) and their projection (supplement Figure 5).

Captions too similar to distinguish moments are clustered by DBSCAN on the cosine distance of their sentence embeddings;
a class is a cluster, an instance a caption inside one.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from verified.statistics.embeddings import Embeddings

TILE = 2048  # rows of a tile: 2048 × 2048 float32 distances are 16 MiB
FEWEST = 5
"""Fewest captions of a projection."""


def dbscan(vectors: np.ndarray, eps: float, min_samples: int, weights: Sequence[int] | None = None) -> np.ndarray:
    """DBSCAN labels, int64 [points]: −1 is noise, clusters count from 0 in the order of their first core point.

    `vectors` is [points, dim], any length but not zero; `weights` (int [points], default 1) is the number of identical
    points of each row. Raises ValueError for a zero or non-finite vector.
    """
    # Imported here: it takes a second, and most readers of this module cluster nothing.
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=eps, min_samples=min_samples, metric="cosine").fit(unit(vectors), sample_weight=weights).labels_


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1, float32 [points, dim]. Raises ValueError for a row without a direction."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("a vector is zero or not finite: it has no direction to compare")
    return vectors / lengths


def nearest_distances(vectors: np.ndarray) -> np.ndarray:
    """Cosine distance of each row to its nearest other row, float32 [points]; infinite for a single row."""
    vectors = unit(vectors)
    nearest = np.full(len(vectors), np.inf, np.float32)
    for row in range(0, len(vectors), TILE):
        for column in range(0, len(vectors), TILE):
            distances = np.float32(1) - vectors[row : row + TILE] @ vectors[column : column + TILE].T
            if row == column:
                np.fill_diagonal(distances, np.inf)
            np.minimum(nearest[row : row + TILE], distances.min(axis=1), out=nearest[row : row + TILE])
    return nearest


def many_to_many(rows: list[dict], key: str, embeddings: Embeddings, distance: float, min_samples: int) -> dict:
    """Classes and instances of the captions ``row[key]``, with each class's members.

    Returns ``captions, distinct, classes, instances, classes_over_videos`` (classes whose captions belong to several
    videos) and ``members``: per class, largest first, ``size, videos`` (how many) and ``captions``: the distinct
    texts with the `desc_id` of their moments.
    """
    labels = cluster_labels([row[key] for row in rows], embeddings, distance, min_samples)
    groups: dict[int, list[dict]] = {}
    for row, label in zip(rows, labels, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append(row)
    members = [_describe(group, key) for _, group in sorted(groups.items())]
    members.sort(key=lambda member: -member["size"])  # stable: equal sizes stay in the order of their first caption
    return {
        "captions": len(rows),
        "distinct": len({row[key] for row in rows}),
        "classes": len(members),
        "instances": sum(member["size"] for member in members),
        "classes_over_videos": sum(member["videos"] > 1 for member in members),
        "members": members,
    }


def cluster_labels(texts: list[str], embeddings: Embeddings, distance: float, min_samples: int) -> list[int]:
    """DBSCAN label of each text; identical texts are clustered once, with their number as weight."""
    if not texts:
        return []  # scikit-learn refuses to cluster nothing
    counts = Counter(texts)
    unique = list(counts)
    labels = dbscan(embeddings.lookup(unique), distance, min_samples, [counts[text] for text in unique])
    label_of = dict(zip(unique, map(int, labels), strict=True))
    return [label_of[text] for text in texts]


def _describe(group: list[dict], key: str) -> dict:
    moments: dict[str, list[int]] = {}
    for row in group:
        moments.setdefault(row[key], []).append(row["desc_id"])
    return {
        "size": len(group),
        "videos": len({row["video"] for row in group}),
        "captions": [{"caption": caption, "desc_id": ids} for caption, ids in moments.items()],
    }


def projection(rows: list[dict], embeddings: Embeddings, distance: float, min_samples: int, seed: int) -> dict:
    """t-SNE coordinates of the instances of all coarse classes, by coarse and by fine caption.

    Coarse captions are clustered with `min_samples` (16 in the paper's figure, for clarity); each instance has its
    coarse class. Returns ``captions`` (all), ``classes, instances, min_samples, fine_classes, fine_instances`` (how
    many of all fine captions cluster by the same rule) and ``points``: ``desc_id, class, cog [x, y], fig [x, y]``;
    ``fig`` is None for coarse collections, and both are None when there are too few captions to project. Then
    ``nearest`` (``edges, counts``) is the histogram of each distinct coarse caption's distance to its nearest one, for
    comparison with ``distance``.
    """
    labels = cluster_labels([row["cog_desc"] for row in rows], embeddings, distance, min_samples)
    clustered = [(row, label) for row, label in zip(rows, labels, strict=True) if label >= 0]
    fine = "fig_desc" in rows[0] if rows else False
    fine_texts = [row["fig_desc"] for row in rows] if fine else []
    fine_labels = [label for label in cluster_labels(fine_texts, embeddings, distance, min_samples) if label >= 0]
    places = {
        name: coordinates([row[key] for row, _ in clustered], embeddings, seed) if name == "cog" or fine else None
        for name, key in (("cog", "cog_desc"), ("fig", "fig_desc"))
    }
    points = [
        {"desc_id": row["desc_id"], "class": label}
        | {name: None if index_of is None else index_of[index] for name, index_of in places.items()}
        for index, (row, label) in enumerate(clustered)
    ]
    return {
        "distance": distance,
        "min_samples": min_samples,
        "captions": len(rows),
        "classes": len({label for _, label in clustered}),
        "instances": len(clustered),
        "fine_classes": len(set(fine_labels)) if fine else None,
        "fine_instances": len(fine_labels) if fine else None,
        "points": points,
        "nearest": _nearest(rows, embeddings) if places["cog"] is None else None,
    }


def _nearest(rows: list[dict], embeddings: Embeddings) -> dict | None:
    """Histogram of the distances of distinct coarse captions to their nearest one; None for fewer than two."""
    texts = sorted({row["cog_desc"] for row in rows})
    if len(texts) < 2:
        return None
    distances = np.clip(nearest_distances(embeddings.lookup(texts)), 0, None)
    counts, edges = np.histogram(distances, bins=20, range=(0, max(0.1, float(distances.max()))))
    return {"edges": np.round(edges, 6).tolist(), "counts": counts.tolist()}


def coordinates(texts: list[str], embeddings: Embeddings, seed: int) -> list[list[float]] | None:
    """[x, y] of each text by t-SNE, repeated texts included, as in the paper; None for fewer than `FEWEST` texts."""
    from sklearn.manifold import TSNE

    if len(texts) < FEWEST:
        return None
    perplexity = min(30.0, (len(texts) - 1) / 3)
    reducer = TSNE(perplexity=perplexity, init="random", random_state=seed % 2**32, n_jobs=1)
    places = np.round(reducer.fit_transform(embeddings.lookup(texts)).astype(np.float64), 3)
    return places.tolist()
