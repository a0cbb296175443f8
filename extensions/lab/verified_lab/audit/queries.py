"""Queries under audit, with their spans, from a run's annotations or from files in any published form."""

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from verified.cli.forms import MOMENTS, Span, form_of, read_ground_truth
from verified.errors import InputError
from verified.io.characters import plain
from verified.io.jsonl import Row
from verified.released.formats import charades_lengths

Vectors = Callable[[Sequence[str]], np.ndarray]
"""Captions → their vectors, [captions, dim]."""


@dataclasses.dataclass(frozen=True)
class Audited:
    """One query under audit."""

    split: str
    """Name of the file without its ending."""
    id: str
    """Unique in its split."""
    video: str
    spans: tuple[Span, ...]
    """Spans of several annotators, or the windows of a query."""
    caption: str
    duration: float | None = None
    """Duration of the video in seconds; None if unknown."""
    reviewed: bool = False
    """Whether people have confirmed or corrected it."""

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
    durations = charades_lengths(lengths) if lengths else {}
    form = form_of(path)
    if form.rows is None:
        raise InputError(
            f"holds {form.name}", file=path, remedy="the audit takes moments of videos, or queries for windows"
        )
    return [
        Audited(
            path.stem,
            str(query.id),
            query.video,
            query.spans,
            plain(query.caption),
            query.duration if query.duration is not None else durations.get(query.video),
        )
        for query in read_ground_truth(path).queries()
    ]


def rows_without(path: Path, flagged: Set[tuple[str, str]]) -> Iterator[Row]:
    """Rows of a file that `of_file` reads whose queries are not `flagged`, by the keys of queries; ids are unchanged.

    Files that are no JSON Lines become rows of FIG's form, which `verified evaluate` reads by the same ids. Raises
    InputError at a row that cannot be written.
    """
    rows = form_of(path).rows
    for number, (name, row) in enumerate(rows(path) if rows else (), start=1):
        if (path.stem, name) not in flagged:
            _check_writable(row, path, number)
            yield row


def _check_writable(row: Row, path: str | os.PathLike[str], number: int) -> None:
    """Raise InputError if row `number` (from 1) of a file has content that our files cannot store: NaN, infinities,
    halves of surrogate pairs."""
    try:
        json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        bad = "half of a surrogate pair" if isinstance(error, UnicodeError) else "a number that is not finite"
        raise InputError(f"holds {bad}", file=path, row=number, remedy="correct the row, or leave it out") from None


def spans_of_runs(
    submissions: Iterable[str | Path], split: str, audited: Iterable[Audited], truth: Path | None = None
) -> dict[str, dict[tuple[str, str], Span]]:
    """By the file of each submission to a split: its spans for queries, by their keys.

    truth: the file of the split, whose form decides the form of submissions; None: moments. Raises InputError for a
    submission without spans in the right video.
    """
    videos = {query.id: query.video for query in audited if query.split == split}
    by_file = {}
    for file in map(Path, submissions):
        first_spans = (form_of(truth, file) if truth else MOMENTS).first_spans
        spans = first_spans(file, videos) if first_spans else {}
        by_file[str(file)] = {(split, name): span for name, span in spans.items()}
    return by_file
