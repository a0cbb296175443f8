"""Queries under audit, with their spans, from a run's annotations or from files in any published form."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.qvhighlights.rows import read_window_answers, read_window_queries
from verified.benchmark.submissions import rows_by_id
from verified.benchmark.vcmr.answers import MomentTruth
from verified.benchmark.vcmr.submission import read_submission, truth_rows
from verified.cli.forms import form_of
from verified.errors import InputError
from verified.io.characters import plain
from verified.released.formats import charades_lengths

Span = tuple[float, float]
"""Start and end in seconds."""
Vectors = Callable[[Sequence[str]], np.ndarray]
"""Captions → their vectors, [captions, dim]."""


@dataclasses.dataclass(frozen=True)
class Audited:
    """One query under audit."""

    split: str
    """Of a file its name without the ending."""
    id: str
    """Unique in its split."""
    video: str
    spans: tuple[Span, ...]
    """Of several annotators, or the several windows of a query."""
    caption: str
    duration: float | None = None
    """Of the video in seconds; None where nobody says."""
    reviewed: bool = False
    """Whether people have kept or corrected it."""

    @property
    def key(self) -> tuple[str, str]:
        """Key of the query among the queries of all splits."""
        return self.split, self.id


def of_annotations(rows: Iterable[Mapping[str, Any]]) -> list[Audited]:
    """The queries of a run: rows of `io.fig.read_splits`, those with coarse captions alone among them."""
    return [
        Audited(
            row["split"],
            str(row["desc_id"]),
            row["video"],
            ((float(row["time"][0]), float(row["time"][1])),),
            row.get("fig_desc") or row["cog_desc"],
            float(row["duration"]),
            "review" in row,
        )
        for row in rows
    ]


def of_file(path: Path, lengths: Path | None = None) -> list[Audited]:
    """The queries of a ground truth: moments in any form that `verified evaluate` reads, or queries for windows.

    lengths: a csv with the columns id and length, for files that do not say how long their videos are. Raises
    InputError for movies, questions and graded moments.
    """
    known = charades_lengths(lengths) if lengths else {}
    form, split = form_of(path).name, path.stem
    if form == "windows":
        return [
            Audited(
                split,
                query.qid,
                query.video,
                tuple((float(start), float(end)) for start, end in query.windows),
                plain(query.query),
                query.duration,
            )
            for query in read_window_queries(path)
        ]
    if form != "moments":
        raise InputError(f"holds {form}", file=path, remedy="the audit takes moments of videos, or queries for windows")
    truth = MomentTruth(path)
    return [
        Audited(
            split,
            str(query.id),
            query.video,
            tuple(truth.moments[int(query.id)].spans),
            plain(query.caption),
            query.duration if query.duration is not None else known.get(query.video),
        )
        for query in truth.queries()
    ]


def rows_of_file(path: Path) -> Iterator[tuple[str, dict]]:
    """Id and content of each row of a file that `of_file` reads; of published forms, rows as of `released.formats`."""
    if form_of(path).name == "windows":
        yield from ((qid, row) for _, qid, row in rows_by_id(path, "qid"))
    else:
        yield from ((str(int(row["desc_id"])), row) for row in truth_rows(path))  # "7" and 7 are one


def first_spans(path: Path, audited: Iterable[Audited]) -> dict[str, Span]:
    """{id: the first span that a submission answers}, of queries of one split, in the right video.

    A submission of moments is read by its SVMR lists. Raises InputError where it has none.
    """
    asked = {query.id: query for query in audited}
    if path.suffix == ".jsonl":
        windows = {qid: answer.windows for qid, answer in read_window_answers(path).items()}
        return {
            qid: (float(rows[0, 0]), float(rows[0, 1]))
            for qid, rows in windows.items()
            if qid in asked and rows is not None and len(rows)
        }
    submission = read_submission(path)
    if "SVMR" not in submission.tasks:
        raise InputError("has no SVMR lists", file=path, remedy="spans are compared within the right video: give SVMR")
    found: dict[str, Span] = {}
    for desc_id, rows in submission.tasks["SVMR"].items():
        query = asked.get(str(desc_id))
        if query is not None and len(rows) and submission.video_index.get(query.video) == int(rows[0, 0]):
            found[query.id] = float(rows[0, 1]), float(rows[0, 2])
    return found


def spans_of_runs(
    submissions: Iterable[str | Path], split: str, audited: Iterable[Audited]
) -> dict[str, dict[tuple[str, str], Span]]:
    """By the file of each submission to a split: the span that it answers to queries, by their keys."""
    asked = [query for query in audited if query.split == split]
    return {
        str(file): {(split, name): span for name, span in first_spans(Path(file), asked).items()}
        for file in submissions
    }
