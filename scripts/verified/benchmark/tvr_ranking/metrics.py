"""NDCG@K, IoU ≥ μ: how well the head of a list holds the most relevant moments (section 4 of the paper).

Row by row, best first: of the query's moments in the row's video that no row before has found, the one of highest tIoU
is found if that exceeds μ, and the row gains 2^relevance - 1, discounted by log2(rank + 1); else nothing. NDCG divides
by what the best order of all the query's moments would gain. As in the authors' code (commit 2844422), a tIoU that is
μ exactly is no hit, although the measure is written with ≥, and a found moment of relevance 0 is used up too.
"""

import numpy as np

from verified.benchmark.tiou import tiou
from verified.benchmark.tvr_ranking.rows import GradedQuery

DEPTHS = (10, 20, 40)
THRESHOLDS = (0.3, 0.5, 0.7)


def measures(queries: list[GradedQuery], lists: list[list[tuple[str, float, float]]]) -> dict[str, np.ndarray]:
    """{"NDCG@10/0.3": [Q] from 0 to 1, ...}; `lists` [Q] of rows of video, start and end in seconds, best first."""
    values = {f"NDCG@{depth}/{threshold:g}": np.zeros(len(queries)) for depth in DEPTHS for threshold in THRESHOLDS}
    for number, (query, rows) in enumerate(zip(queries, lists, strict=True)):
        best = _gain(np.sort([moment.relevance for moment in query.moments])[::-1])
        for threshold in THRESHOLDS:
            found = _gain(np.array(relevance_found(query, rows[: DEPTHS[-1]], threshold)))
            for depth in DEPTHS:
                values[f"NDCG@{depth}/{threshold:g}"][number] = found[:depth].sum() / best[:depth].sum()
    return values


def relevance_found(query: GradedQuery, rows: list[tuple[str, float, float]], threshold: float) -> list[float]:
    """Relevance of the moment that each row finds; 0 where it finds none."""
    # The order in which the authors' code looks at them, which decides between moments of equal tIoU.
    left = sorted(query.moments, key=lambda moment: -moment.relevance)
    relevance = []
    for video, start, end in rows:
        overlaps = [
            (float(tiou(start, end, moment.start, moment.end)), -place)
            for place, moment in enumerate(left)
            if moment.video == video
        ]
        overlap, place = max(overlaps, default=(0.0, 0))
        relevance.append(left.pop(-place).relevance if overlap > threshold else 0.0)
    return relevance


def _gain(relevance: np.ndarray) -> np.ndarray:
    return (2.0**relevance - 1) / np.log2(np.arange(len(relevance)) + 2)
