"""Groups of queries by which models may differ: what the moment is like, and what its caption is."""

import re
from dataclasses import dataclass

import numpy as np

from verified.benchmark.answers import Query
from verified.io.characters import length_in_words

ALIKE = 0.5
"""Cosine of two captions' word weights (tf-idf) at which they count as alike."""
CELLS = 10_000_000
"""Cosines in memory at once."""
PARTS = 3


@dataclass(frozen=True)
class Group:
    """Queries that share something."""

    by: str
    label: str
    queries: np.ndarray
    """[Q] bool."""


def groups_of(queries: list[Query]) -> list[Group]:
    """All groups; a property that all queries share, or that the ground truth does not state, makes none."""
    seconds = np.array([query.end - query.start for query in queries])
    words = np.array([length_in_words(query.caption) for query in queries])
    groups = _thirds("length of the moment", seconds, "s") + _thirds("length of the caption", words, "words")
    groups += _groups_by_label("caption", [query.kind for query in queries])
    groups += _groups_by_label("position in the video", [_position(query) for query in queries])
    counts = count_similar([query.caption for query in queries], [query.video for query in queries])
    return groups + _groups_by_label("captions that are much alike", [_several(count) for count in counts])


def count_similar(captions: list[str], videos: list[str]) -> np.ndarray:
    """[Q] how many captions of other videos resemble each one (cosine of tf-idf weights ≥ `ALIKE`)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(re.search(r"\w", caption) for caption in captions):
        return np.zeros(len(captions), dtype=int)
    weights = TfidfVectorizer(token_pattern=r"\w+").fit_transform(captions)
    video = np.unique(videos, return_inverse=True)[1]
    counts = []
    rows = max(1, CELLS // len(captions))
    for start in range(0, len(captions), rows):
        block = (weights[start : start + rows] @ weights.T).toarray() >= ALIKE
        counts.append((block & (video[start : start + rows, None] != video[None])).sum(axis=1))
    return np.concatenate(counts)


def _position(query: Query) -> str | None:
    if query.duration is None:
        return None
    third = int(PARTS * (query.start + query.end) / 2 / query.duration)
    return ("first third", "middle third", "last third")[min(third, PARTS - 1)]


def _several(count: int) -> str:
    return "none" if count == 0 else "1 to 4" if count < 5 else "5 and more"


def _groups_by_label(by: str, labels: list[str | None]) -> list[Group]:
    names = sorted({label for label in labels if label}, key=_order)
    if len(names) < 2:
        return []
    return [Group(by, name, np.array([label == name for label in labels])) for name in names]


def _order(label: str) -> tuple[int, str]:
    known = ("first third", "middle third", "last third", "none", "1 to 4", "5 and more", "statics", "dynamics")
    return (known.index(label) if label in known else len(known), label)


def _thirds(by: str, values: np.ndarray, unit: str) -> list[Group]:
    """Thirds of the queries by a number; equal numbers stay together, so thirds may differ in size."""
    bounds = np.unique(np.quantile(values, (1 / PARTS, 2 / PARTS), method="lower"))
    third = np.searchsorted(bounds, values, side="left")
    groups = []
    for number in range(len(bounds) + 1):
        low = "" if number == 0 else f"over {bounds[number - 1]:g}"
        high = "" if number == len(bounds) else f"up to {bounds[number]:g}"
        queries = third == number
        if queries.any():
            groups.append(Group(by, f"{' '.join(filter(None, (low, high)))} {unit}", queries))
    return groups if len(groups) > 1 else []
