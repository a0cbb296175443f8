"""Queries in the JSON Lines form of QVHighlights, checked row by row.

A query: ``qid, query, duration (s), vid, relevant_windows [[start, end], ...] (s)`` and, if people graded how well each
clip of two seconds shows it, ``relevant_clip_ids`` and ``saliency_scores``, three of 0 to 4 for each of these.
"""

import dataclasses
import os

import numpy as np

from verified.benchmark.submissions import rows_by_id
from verified.errors import InputError
from verified.io.jsonl import finite, is_array, is_span

CLIP_SECONDS = 2
LONGEST = 10**7
"""Seconds of a video: four months. A number above it is a mistake, and its clips would fill the memory."""
ANNOTATORS = 3


@dataclasses.dataclass(frozen=True)
class WindowQuery:
    """One query with its truth."""

    qid: str
    query: str
    video: str
    duration: float | None
    windows: np.ndarray
    """[W, 2] seconds, W ≥ 1, in any order."""
    saliency: np.ndarray | None = None
    """[clips, 3] from 0, not relevant, to 4; None without grades."""


def read_window_queries(path: str | os.PathLike) -> list[WindowQuery]:
    """All queries of a file, in its order.

    Raises InputError for a row without its keys, an invalid window, scores that do not fit the clips, and an id that
    two rows share.
    """
    queries = []
    for number, qid, row in rows_by_id(path, "qid", ("vid", "query", "duration")):
        if "relevant_windows" not in row:
            raise InputError(
                f"qid {qid} has no relevant_windows",
                file=path,
                row=number,
                remedy="take a file with ground truth (of QVHighlights' test split highlight_test_with_gt.jsonl); one"
                " without, for a leaderboard, is scored there",
            )
        if problem := _query_problem(row):
            raise InputError(f"qid {qid}: {problem}", file=path, row=number, remedy="correct the row, or leave it out")
        windows = np.array(row["relevant_windows"], np.float64)
        queries.append(WindowQuery(qid, row["query"], row["vid"], float(row["duration"]), windows, _saliency(row)))
    if not queries:
        raise InputError("the file holds no queries", file=path)
    return queries


def _query_problem(row: dict) -> str | None:
    for key in ("vid", "query"):
        if not isinstance(row[key], str) or not row[key].strip():
            return f"{key!r} must be a text that is not empty, found {row[key]!r:.80}"
    if not finite(row["duration"]) or not 0 < row["duration"] <= LONGEST:
        return f"'duration' must be a number of seconds above 0 and up to {LONGEST:,}, found {row['duration']!r:.80}"
    windows = row["relevant_windows"]
    if not is_array(windows) or not windows or not all(map(is_span, windows)):
        return f"'relevant_windows' must be a list of [start, end] in seconds, found {windows!r:.80}"
    clips, scores = row.get("relevant_clip_ids"), row.get("saliency_scores")
    if scores is None:
        return None
    last = int(row["duration"] / CLIP_SECONDS) - 1
    if not is_array(clips) or not all(isinstance(clip, int) and 0 <= clip <= last for clip in clips):
        return f"'relevant_clip_ids' must be 0 to {last}, of clips of {CLIP_SECONDS} s, found {clips!r:.80}"
    rated = is_array(scores) and all(
        is_array(each) and len(each) == ANNOTATORS and all(map(finite, each)) for each in scores
    )
    if not is_array(scores) or not rated or len(scores) != len(clips):
        return f"'saliency_scores' must be {ANNOTATORS} numbers for each of {len(clips)} clips, found {scores!r:.80}"
    return None


def _saliency(row: dict) -> np.ndarray | None:
    if row.get("saliency_scores") is None:
        return None
    saliency = np.zeros((int(row["duration"] / CLIP_SECONDS), ANNOTATORS))
    if row["relevant_clip_ids"]:
        saliency[row["relevant_clip_ids"]] = row["saliency_scores"]
    return saliency
