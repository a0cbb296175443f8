"""Submissions of windows and saliency in QVHighlights' form: scored, and compared."""

import dataclasses
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.submissions import (
    Answers,
    Query,
    Spans,
    WindowAnswer,
    first_row,
    list_some,
    match,
    read_window_answers,
    span_notes,
)
from verified.benchmark.tiou import first_ranks
from verified.benchmark.vcmr.submission import read_submission
from verified.errors import InputError
from verified_field.window_metrics import MOST_WINDOWS, WindowScores, measures, official_result, overlap, score
from verified_field.window_rows import (
    CLIP_SECONDS,
    WindowQuery,
    read_window_queries,
)

RIGHT = 0.5
"""tIoU of a window that is right."""


class WindowTruth:
    """Queries about one video each; metrics are those of the official summary, and mIoU."""

    compared: tuple[str, ...] = ("R1@0.5", "R1@0.7", "mAP", "HL-VeryGood-mAP", "HL-VeryGood-Hit1")
    table_metrics: tuple[str, ...] = ("R1@0.5", "R1@0.7", "mAP@0.5", "mAP@0.75", "mAP")
    ending: str = ".jsonl"

    def __init__(self, path: Path):
        self.rows = read_window_queries(path)

    def queries(self) -> list[Query]:
        """The queries, each with its first window."""
        return [
            Query(query.qid, query.video, *spans[0], query.query, None, query.duration, spans)
            for query in self.rows
            if (spans := tuple((float(start), float(end)) for start, end in query.windows))
        ]

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a window of tIoU 0.5 with one of the true ones."""
        if nms_threshold is not None:
            raise InputError(
                "windows are scored as they are listed", file=file, remedy="leave out the tIoU (nms_threshold)"
            )
        answers = read_answers(file, self.rows)
        scores = evaluate(self.rows, answers, file=file).scores
        first, ranks = [], []
        for query in self.rows:
            if (rows := answers[query.qid].windows) is None:
                raise InputError("has no pred_relevant_windows", file=file, remedy="give them, best first")
            ranks.append(first_ranks(overlap(query.windows, rows).max(axis=1) >= RIGHT))
            first.append((query.video, float(rows[0, 0]), float(rows[0, 1])) if len(rows) else None)
        return Answers(measures(scores), np.array(ranks), first)


@dataclasses.dataclass(frozen=True)
class WindowEvaluation:
    """A scored submission: the official output, numbers per query, and notes for the reader."""

    result: dict
    scores: WindowScores
    notes: tuple[str, ...]

    def intervals(self, thresholds: Iterable[float] = (0.3,)) -> dict[str, dict[str, float | None]]:
        """Mean of each measure in percent with its 95 % interval over videos, as of ReXTime's evaluation; R1
        also at `thresholds`."""
        scored = measures(self.scores, thresholds)
        return {name: mean_of_training(values, self.scores.videos, unit=100) for name, values in scored.items()}


def evaluate_files(
    truth: str | os.PathLike,
    submission: str | os.PathLike,
    partial: bool = False,
    last_of_equal_ids: bool = False,
) -> WindowEvaluation:
    """Score one file. See `read_answers` for `last_of_equal_ids`, `submissions.match` for `partial`."""
    queries = read_window_queries(truth)
    return evaluate(queries, read_answers(submission, queries, last_of_equal_ids), partial, submission)


def read_answers(
    path: str | os.PathLike, queries: Iterable[WindowQuery], last_of_equal_ids: bool = False
) -> dict[str, WindowAnswer]:
    """The answers of a submission of windows (see `read_window_answers`), or of the lists SVMR in the TVR form."""
    if Path(path).suffix == ".jsonl" or "qid" in first_row(Path(path)):
        return read_window_answers(path, last_of_equal_ids)
    submission, videos = read_submission(Path(path)), {query.qid: query.video for query in queries}
    rows = {str(desc_id): rows for desc_id, rows in submission.tasks.get("SVMR", {}).items()}
    if not rows:
        raise InputError("has no SVMR lists", file=path, remedy="windows are found within a video: give SVMR")
    own = {qid: submission.video_index.get(videos.get(qid, "")) for qid in rows}
    return {qid: WindowAnswer(each[each[:, 0] == own[qid], 1:], None) for qid, each in rows.items()}


def evaluate(
    queries: list[WindowQuery], answers: dict[str, WindowAnswer], partial: bool = False, file: object = "submission"
) -> WindowEvaluation:
    """Score answers by id. Raises InputError for different ids unless `partial`, or without anything to score."""
    pairing = match([query.qid for query in queries], answers, partial, file, answer="row", key="qid ")
    scores = score(queries, answers)
    if not scores.first and not scores.highlights:
        raise InputError(
            "holds saliency alone, for which the ground truth has no scores",
            file=file,
            remedy="give pred_relevant_windows, or a ground truth with saliency_scores",
        )
    return WindowEvaluation(official_result(scores), scores, (*pairing.notes, *_notes(queries, answers, scores)))


def _notes(queries: list[WindowQuery], answers: dict[str, WindowAnswer], scores: WindowScores) -> Iterator[str]:
    pairs = [(query, answers[query.qid]) for query in queries if query.qid in answers]
    if scores.first:
        listed = [(query.qid, len(answer.windows)) for query, answer in pairs if answer.windows is not None]
        empty = [qid for qid, count in listed if not count]
        more = sum(count > MOST_WINDOWS for _, count in listed)
        if empty:
            yield f"{len(empty)} queries without a window count as missed: qid {list_some(empty)}"
        windows = [answer.windows if answer.windows is not None else np.empty((0, 3)) for _, answer in pairs]
        ids, durations = [query.qid for query, _ in pairs], [query.duration for query, _ in pairs]
        true = Spans.of(ids, [query.windows for query, _ in pairs], durations)
        yield from span_notes(Spans.of(ids, windows, durations), true, "qid ")
        undefined = [
            query.qid
            for (query, _), rows in zip(pairs, windows)
            if (_lengths(rows[:MOST_WINDOWS])[:, None] + _lengths(query.windows) == 0).any()
        ]
        if undefined:
            yield (
                "the official evaluator divides 0 by 0 for windows whose lengths cancel out the true one's and counts a"
                f" hit at every threshold, so its mAP differs; qid {list_some(undefined)}"
            )
        if more:
            yield f"{more} queries have more than {MOST_WINDOWS} windows; the first {MOST_WINDOWS} count"
    else:
        yield "no pred_relevant_windows: moments are not scored"
    if scores.highlights:
        odd = [
            query.qid
            for query, answer in pairs
            if query.saliency is not None and answer.saliency is not None
            if len(query.saliency) != len(answer.saliency)
        ]
        if odd:
            yield (
                f"{len(odd)} lists of saliency have not a number for each clip of {CLIP_SECONDS} s; missing ones count"
                f" as 0 and those too many are left out: qid {list_some(odd)}"
            )
    else:
        yield "highlights are not scored: " + (
            "no pred_saliency_scores"
            if any(answer.saliency is None for _, answer in pairs)
            else "the ground truth has no saliency_scores"
        )


def _lengths(windows: np.ndarray) -> np.ndarray:
    return windows[:, 1] - windows[:, 0]
