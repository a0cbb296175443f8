"""Figure 5 of the supplement: captions that cluster when coarse, drawn before and after fine-grained annotation."""

import numpy as np

from verified.statistics.clustering import nearest_distances
from verified.statistics.embeddings import Embeddings
from verified.statistics.many_to_many import cluster_labels

FEWEST = 5
"""Fewest captions that a projection is made of."""


def projection(rows: list[dict], embeddings: Embeddings, distance: float, min_samples: int, seed: int) -> dict:
    """t-SNE coordinates of the instances of all coarse classes, by coarse and by fine caption.

    Coarse captions are clustered with `min_samples` (16 in the paper's figure, for clarity); each instance keeps its
    coarse class. Returns ``captions`` (all), ``classes, instances, min_samples, fine_classes, fine_instances`` (how
    many of all fine captions cluster by the same rule) and ``points``: ``desc_id, class, cog [x, y], fig [x, y]``;
    ``fig`` is None for coarse collections, and both are None when there are too few captions to project. Then
    ``nearest`` (``edges, counts``) is the histogram of how far each distinct coarse caption is from the next, for
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
    """Histogram of the distances of distinct coarse captions to the next most alike; None for fewer than two."""
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
