"""Queries with graded moments for comparisons: a ground truth of TVR-Ranking."""

from pathlib import Path

import numpy as np

from verified.benchmark.answers import Answers, Query
from verified.benchmark.tiou import tiou
from verified.benchmark.tvr_ranking.evaluate import evaluate_files
from verified.benchmark.tvr_ranking.rows import GradedMoment, GradedQuery, read_graded_queries
from verified.errors import InputError

RIGHT = 0.5
"""tIoU of a row that has found the most relevant moment, or one of these."""


class GradedTruth:
    """Queries about many videos; metrics are named NDCG@K/μ."""

    compared: tuple[str, ...] = ("NDCG@20/0.3", "NDCG@20/0.5", "NDCG@20/0.7", "NDCG@10/0.5", "NDCG@40/0.5")
    shown: tuple[str, ...] = ("NDCG@20/0.3", "NDCG@20/0.5", "NDCG@20/0.7", "NDCG@10/0.5", "NDCG@40/0.5")
    ending: str = ".json.gz"

    def __init__(self, path: Path):
        self.path = path
        self.graded = read_graded_queries(path)

    def queries(self) -> list[Query]:
        """The queries, each with the first of its most relevant moments."""
        best = [(query, _best(query)[0]) for query in self.graded]
        return [Query(q.id, m.video, m.start, m.end, q.query, None, m.duration) for q, m in best]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a row at tIoU 0.5 with one of the most relevant moments."""
        if nms_threshold is not None:
            raise InputError(
                "graded moments are scored as they are listed", file=file, remedy="leave out the tIoU (nms_threshold)"
            )
        evaluation = evaluate_files(self.path, file)
        ranks = [_rank(_best(query), rows) for query, rows in zip(evaluation.queries, evaluation.lists)]
        first = [rows[0] if rows and rows[0][0] else None for rows in evaluation.lists]
        return Answers(evaluation.values, np.array(ranks), first)


def _best(query: GradedQuery) -> list[GradedMoment]:
    top = max(moment.relevance for moment in query.moments)
    return [moment for moment in query.moments if moment.relevance == top]


def _rank(best: list[GradedMoment], rows: list[tuple[str, float, float]]) -> float:
    for rank, (video, start, end) in enumerate(rows, start=1):
        if any(one.video == video and tiou(start, end, one.start, one.end) >= RIGHT for one in best):
            return float(rank)
    return float("inf")
