"""Submissions for long-form grounding: JSON Lines, one query a line, and their score.

``{"id": "…", "spans": [[start, end], …]}`` with seconds, best first; numbers after start and end (a score, say) are
allowed and ignored. The spans are scored as submitted: redundant ones have to be removed beforehand.
"""

import os
from collections.abc import Iterable, Sequence

import numpy as np

from verified.benchmark.submissions import match, rows_by_id
from verified.benchmark.tiou import Comparison
from verified.errors import InputError
from verified.io.jsonl import is_span, write_jsonl
from verified_longform.recall import DEPTH, first_hits, recall_over_movies


def write_submission(path: str | os.PathLike, ids: Iterable[str], predictions: Iterable[np.ndarray]) -> int:
    """Write spans [n, 2 or 3] per query, rounded to a millisecond; returns how many queries."""
    rows = (
        {
            "id": name,
            "spans": [
                [round(float(start), 3), round(float(end), 3), *map(_score, scores)] for start, end, *scores in spans
            ],
        }
        for name, spans in zip(ids, predictions, strict=True)
    )
    return write_jsonl(path, rows)


def _score(value: float) -> float:
    return round(float(value), 6)


def read_submission(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Query id → spans [n, 2] in seconds, best first. Raises InputError with file, row and reason."""
    predictions: dict[str, np.ndarray] = {}
    for number, name, row in rows_by_id(path, "id", ("spans",)):
        if not isinstance(row["spans"], list):
            raise InputError("'spans' must be a list of [start, end]", file=path, row=number)
        for span in row["spans"]:
            if not (isinstance(span, list) and is_span(span[:2])):
                raise InputError(f"span {span!r:.80} is not [start, end] in seconds", file=path, row=number)
            if span[1] < span[0]:
                raise InputError(f"span {span!r:.80} ends before it starts", file=path, row=number)
        predictions[name] = np.array([span[:2] for span in row["spans"]], np.float64).reshape(-1, 2)
    return predictions


def evaluate(
    rows: Sequence[dict],
    submission: dict[str, np.ndarray],
    iou_cmp: Comparison = "gt",
    partial: bool = False,
    source: str | os.PathLike = "submission",
) -> dict:
    """Recall [K][IoU] in percent with intervals, and counts; `rows` are checked annotations.

    An empty list is a miss. Queries without a line and lines without a query raise InputError that names some of them;
    with `partial`, known rows are scored and unknown ones omitted, both counted.
    """
    pairing = match([row["id"] for row in rows], submission, partial, source, answer="line")
    scored = [row for row in rows if row["id"] in submission]
    moments = np.array([[row["start"], row["end"]] for row in scored]).reshape(-1, 2)
    ranks = first_hits([submission[row["id"]] for row in scored], moments, iou_cmp)
    return {
        "queries": len(scored),
        "movies": len({row["movie"] for row in scored}),
        "missing": len(pairing.missing),
        "unknown": len(pairing.unknown),
        "more_than_100": sum(len(submission[row["id"]]) > DEPTH for row in scored),
        **recall_over_movies(ranks, [row["movie"] for row in scored]),
    }
