"""TVR-Ranking: queries with many moments, each with a grade of relevance (Liang et al., arXiv 2407.06597).

Ground truth is either a row for each pair of a query and a moment, ``query_id, query, video_name, timestamp [start,
end] (s), duration (s), relevance (0 to 4)``, as released; or a row for each query with these moments as
``relevant_moment``, as the authors' code reads them. JSON Lines, or one JSON list. A submission is the list VCMR of the
TVR form, by `query_id`.

NDCG@K, IoU ≥ μ measures how well the head of a list contains the most relevant moments (section 4 of the paper). Row by
row, best first: of the query's moments in the row's video that no row before has found, the one of highest tIoU is
found if that exceeds μ, and the row gains 2^relevance - 1, discounted by log2(rank + 1); else 0. NDCG divides by the
gain of the best order of all the query's moments. As in the authors' code (commit 2844422), a tIoU that is μ exactly is
no hit, although the measure is written with ≥, and a found moment of relevance 0 is used up too.
"""

import dataclasses
import os
import reprlib
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.submissions import Answers, Query, json_rows, match
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.submission import read_submission
from verified.errors import InputError
from verified.io.jsonl import finite, is_array, is_object, is_span

REMEDY = "a moment needs video_name, timestamp [start, end] in seconds and relevance, 0 to 4"


@dataclasses.dataclass(frozen=True)
class GradedMoment:
    """A moment of a query."""

    video: str
    start: float
    """Seconds, as `end`."""
    end: float
    relevance: float
    """Relevance from 0, none, to 4."""
    duration: float | None


@dataclasses.dataclass(frozen=True)
class GradedQuery:
    """A query and all moments that people graded for it, in the order of the file."""

    id: int
    query: str
    moments: tuple[GradedMoment, ...]


def read_graded_queries(path: str | os.PathLike) -> list[GradedQuery]:
    """All queries of a file, in the order of their first moment.

    Raises InputError with the row for an invalid moment, an id that is not a whole number, and a query without a moment
    above 0, for which no list could score.
    """
    texts: dict[int, str] = {}
    moments: dict[int, list[GradedMoment]] = {}
    first: dict[int, int] = {}
    for number, row in enumerate(json_rows(path, ("query_id", "query")), start=1):
        query_id, text = row["query_id"], row["query"]
        if not isinstance(query_id, int) or isinstance(query_id, bool) or not isinstance(text, str):
            raise InputError("needs query_id, a whole number, and query, a text", file=path, row=number)
        own = row.get("relevant_moment", [row])
        if not is_array(own):
            raise InputError("relevant_moment is no list", file=path, row=number, remedy=REMEDY)
        texts.setdefault(query_id, text)
        first.setdefault(query_id, number)
        moments.setdefault(query_id, []).extend(_moment(moment, path, number) for moment in own)
    if not texts:
        raise InputError("the file holds no queries", file=path)
    for query_id, own in moments.items():
        if not any(moment.relevance > 0 for moment in own):
            raise InputError(f"query {query_id} has no relevant moment", file=path, row=first[query_id], remedy=REMEDY)
    return [GradedQuery(query_id, text, tuple(moments[query_id])) for query_id, text in texts.items()]


def _moment(moment: object, path: str | os.PathLike, row: int) -> GradedMoment:
    video, span, relevance = (
        moment.get(key) if is_object(moment) else None for key in ("video_name", "timestamp", "relevance")
    )
    if not isinstance(video, str) or not is_span(span) or not finite(relevance) or not 0 <= relevance <= 4:
        raise InputError(f"{reprlib.repr(moment)} is no graded moment", file=path, row=row, remedy=REMEDY)
    duration = moment.get("duration") if is_object(moment) else None
    start, end = map(float, span)
    return GradedMoment(video, start, end, float(relevance), float(duration) if finite(duration) else None)


DEPTHS = (10, 20, 40)
THRESHOLDS = (0.3, 0.5, 0.7)


def measures(queries: list[GradedQuery], lists: list[list[tuple[str, float, float]]]) -> dict[str, np.ndarray]:
    """{"NDCG@10/0.3": [Q] from 0 to 1, ...}; `lists` [Q] of rows of video, start and end in seconds, best first."""
    values = {f"NDCG@{depth}/{threshold:g}": np.zeros(len(queries)) for depth in DEPTHS for threshold in THRESHOLDS}
    for number, (query, rows) in enumerate(zip(queries, lists, strict=True)):
        best = _gain(np.sort([moment.relevance for moment in query.moments])[::-1])
        for threshold in THRESHOLDS:
            gains = _gain(np.array(relevance_found(query, rows[: DEPTHS[-1]], threshold)))
            for depth in DEPTHS:
                values[f"NDCG@{depth}/{threshold:g}"][number] = gains[:depth].sum() / best[:depth].sum()
    return values


def relevance_found(query: GradedQuery, rows: list[tuple[str, float, float]], threshold: float) -> list[float]:
    """Relevance of the moment that each row finds; 0 without one."""
    # The order of the authors' code, which breaks ties between moments of equal tIoU.
    remaining = sorted(query.moments, key=lambda moment: -moment.relevance)
    relevance = []
    for video, start, end in rows:
        overlaps = [
            (float(tiou(start, end, moment.start, moment.end)), -place)
            for place, moment in enumerate(remaining)
            if moment.video == video
        ]
        overlap, place = max(overlaps, default=(0.0, 0))
        relevance.append(remaining.pop(-place).relevance if overlap > threshold else 0.0)
    return relevance


def _gain(relevance: np.ndarray) -> np.ndarray:
    return (2.0**relevance - 1) / np.log2(np.arange(len(relevance)) + 2)


@dataclasses.dataclass(frozen=True)
class GradedEvaluation:
    """A scored submission."""

    queries: list[GradedQuery]
    """Q queries that were scored."""
    lists: list[list[tuple[str, float, float]]]
    """[Q] rows of video, start and end in seconds; the video is "" where video2idx does not know it."""
    values: dict[str, np.ndarray]
    """As of `metrics.measures`."""
    notes: tuple[str, ...]

    def intervals(self) -> dict[str, dict[str, float | None]]:
        """Mean of each measure in percent and its 95 % interval over queries, whose moments are of many videos."""
        drawn = np.arange(len(self.queries))
        return {name: mean_of_training(values, drawn, unit=100) for name, values in self.values.items()}


def evaluate_files(truth: str | os.PathLike, submission: str | os.PathLike, partial: bool = False) -> GradedEvaluation:
    """Score one file. See `submissions.match` for `partial`. Raises InputError without VCMR lists."""
    queries, content = read_graded_queries(truth), read_submission(Path(submission))
    if "VCMR" not in content.tasks:
        raise InputError("has no VCMR lists", file=submission, remedy="give them, with desc_id for the query_id")
    lists = content.tasks["VCMR"]
    pairing = match([query.id for query in queries], lists, partial, submission, key="desc_id ")
    names = {number: video for video, number in content.video_index.items()}
    answered = [query for query in queries if query.id in lists]
    rows = [
        [(names.get(int(video), ""), float(start), float(end)) for video, start, end, _ in lists[query.id]]
        for query in answered
    ]
    short = sum(len(own) < DEPTHS[0] for own in rows)
    notes = (f"{short} lists have fewer than {DEPTHS[0]} rows",) if short else ()
    return GradedEvaluation(answered, rows, measures(answered, rows), (*pairing.notes, *notes))


RIGHT = 0.5
"""tIoU of a row that has found the most relevant moment, or one of these."""


class GradedTruth:
    """Queries about many videos; metrics are named NDCG@K/μ."""

    compared: tuple[str, ...] = ("NDCG@20/0.3", "NDCG@20/0.5", "NDCG@20/0.7", "NDCG@10/0.5", "NDCG@40/0.5")
    table_metrics: tuple[str, ...] = ("NDCG@20/0.3", "NDCG@20/0.5", "NDCG@20/0.7", "NDCG@10/0.5", "NDCG@40/0.5")
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
        if any(moment.video == video and tiou(start, end, moment.start, moment.end) >= RIGHT for moment in best):
            return float(rank)
    return float("inf")
