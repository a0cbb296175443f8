"""Many-to-many captions (Table 2, supplement Table 2): captions so alike that they cannot tell moments apart.

Captions are clustered by DBSCAN on the cosine distance of their sentence embeddings; a class is a cluster, an
instance a caption inside one.
"""

from collections import Counter

from verified.statistics.clustering import dbscan
from verified.statistics.embeddings import Embeddings, distinct


def many_to_many(rows: list[dict], key: str, embeddings: Embeddings, distance: float, min_samples: int) -> dict:
    """Classes and instances of the captions ``row[key]``, with each class's members.

    Returns ``captions, distinct, classes, instances, classes_over_videos`` (classes whose captions belong to several
    videos) and ``members``: per class, largest first, ``size, videos`` (how many) and ``captions``: the distinct
    texts with the `desc_id` of their moments.
    """
    counted = ("classes", "instances", "classes_over_videos")
    if not rows:
        return {"captions": 0, "distinct": 0, **dict.fromkeys(counted), "members": []}
    labels = cluster_labels([row[key] for row in rows], embeddings, distance, min_samples, f"many-to-many, {key}")
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


def cluster_labels(
    texts: list[str], embeddings: Embeddings, distance: float, min_samples: int, label: str | None = None
) -> list[int]:
    """DBSCAN label of each text; identical texts are clustered once, with their number as weight."""
    counts = Counter(texts)
    unique = distinct(texts)
    labels = dbscan(embeddings.lookup(unique), distance, min_samples, [counts[text] for text in unique], label)
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
