"""Common parts of submissions to all benchmarks: rows by id, spans in seconds, and the queries that are scored.

No evaluator refuses spans that are reversed, without length, beyond their video, or in another unit than seconds;
`span_notes` reports them, as they are usually mistakes.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.io.jsonl import Row, iterate_jsonl, read_json

NAMED = 8
"""Ids that a message names before it only counts."""


def list_some(ids: Sequence[object]) -> str:
    """``3, 4, 5``, and how many more."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(map(str, ids[:NAMED])) + more


def rows_by_id(
    path: str | os.PathLike,
    key: str,
    required: Sequence[str] = (),
    last_of_equal_ids: bool = False,
    remedy: str = "keep one row for each",
) -> Iterator[tuple[int, str, Row]]:
    """Number, from 1, id and content of each row of a JSON Lines file, or of one JSON array.

    Raises InputError, with the row, for an id that is neither text nor whole number, and for a repeated id unless the
    last may count.
    """
    seen = set()
    for number, row in enumerate(json_rows(path, (key, *required)), start=1):
        name = row[key]
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{key!r} must be a text that is not empty, found {name!r:.80}", file=path, row=number)
        if name in seen and not last_of_equal_ids:
            raise InputError(f"{key!r} {name} is also in an earlier row", file=path, row=number, remedy=remedy)
        seen.add(name)
        yield number, name, row


def json_rows(path: str | os.PathLike, required: Sequence[str]) -> Iterable[Row]:
    """Rows of a JSON Lines file, or of one JSON list. Raises InputError for a row without a required key."""
    path = Path(path)
    with path.open("rb") if path.is_file() else BytesIO() as file:
        if not file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return iterate_jsonl(path, required)
    rows = read_json(path)
    for number, row in enumerate(rows, start=1):
        missing = [name for name in required if not isinstance(row, dict) or name not in row]
        if missing:
            raise InputError(f"missing key {', '.join(map(repr, missing))}", file=path, row=number)
    return rows


@dataclass(frozen=True)
class Matched:
    """Ids of a ground truth and of a submission: in both, in the order of the truth, or in one alone, sorted."""

    both: list[Any]
    missing: list[Any]
    unknown: list[Any]
    queries: str
    """Plural noun for the ids."""
    answer: str
    """Noun for an answer."""
    key: str
    """Noun before ids in messages."""

    def notes(self) -> Iterator[str]:
        """A sentence for each kind of id that is omitted."""
        if self.missing:
            yield (
                f"{len(self.missing)} {self.queries} without a {self.answer} are left out, not counted as wrong:"
                f" {self.key}{list_some(self.missing)}"
            )
        if self.unknown:
            unknown = f"{self.key}{list_some(self.unknown)}"
            yield f"{len(self.unknown)} {self.answer}s of unknown {self.queries} are left out: {unknown}"


def match(
    wanted: Collection[Any],
    given: Mapping[Any, object],
    partial: bool,
    file: object,
    queries: str = "queries",
    answer: str = "list",
    where: str = "",
    key: str = "",
) -> Matched:
    """Ids of a ground truth that are scored: all, or with `partial` those that the submission has too.

    Raises InputError if ids are missing or unknown unless `partial`, and if the two have no id in common.
    """
    known = set(wanted)
    missing = sorted(known - given.keys())
    found = Matched([i for i in wanted if i in given], missing, sorted(given.keys() - known), queries, answer, key)
    if (found.missing or found.unknown) and not partial:
        problems = [f"no {answer} for {key}{list_some(found.missing)}"] if found.missing else []
        problems += [f"unknown {key}{list_some(found.unknown)}"] if found.unknown else []
        raise InputError(
            f"{where}{'; '.join(problems)}",
            file=file,
            remedy=f"give one {answer} for each of the {queries}, or --partial to score those that both files have",
        )
    if not found.both:
        raise InputError(
            f"{where}not one of the {queries} is in it", file=file, remedy="check that the files belong together"
        )
    return found


ROUNDING = 0.05
"""Seconds by which a span may leave its video."""
REACH = 1.4
"""Whole numbers count as segments if true spans extend this many times as far into their videos."""
FRAMES = 5
"""Spans count as frames where their median end is so many durations."""


@dataclass(frozen=True)
class Spans:
    """N spans of queries."""

    ids: np.ndarray
    """[N] id of the query of each."""
    start: np.ndarray
    """[N] seconds."""
    end: np.ndarray
    """[N] seconds."""
    duration: np.ndarray
    """[N] seconds of the span's video, NaN if unknown."""

    @classmethod
    def of(cls, ids: Sequence, spans: Sequence[np.ndarray], durations: Sequence[float | None]) -> "Spans":
        """Construct from a query's id, spans [n, 2 or more] and duration, each [Q]."""
        counts = [len(each) for each in spans]
        joined = np.concatenate([np.empty((0, 2)), *(np.asarray(each, float)[:, :2] for each in spans if len(each))])
        seconds = np.array([np.nan if duration is None else duration for duration in durations], float)
        return cls(np.repeat(np.array(ids), counts), joined[:, 0], joined[:, 1], np.repeat(seconds, counts))


def span_notes(given: Spans, true: Spans, key: str) -> Iterator[str]:
    """A sentence for each kind of odd span; `key` is the name of an id, with a blank."""
    for name, spans, effect in (
        ("true spans", true, "no answer to them can be right"),
        ("spans", given, "they overlap with nothing"),
    ):
        for kind, odd in (
            ("end before they start", spans.end < spans.start),
            ("have no length", spans.end == spans.start),
        ):
            if odd.any():
                yield f"{odd.sum()} of {len(odd)} {name} {kind}; {effect}: {key}{_ids(spans, odd)}"
        beyond = np.fmax(spans.end - spans.duration, -spans.start)
        outside = beyond > ROUNDING
        if outside.any():
            yield (
                f"{outside.sum()} of {len(outside)} {name} leave their video, by up to {beyond[outside].max():.2f} s:"
                f" {key}{_ids(spans, outside)}"
            )
    if unit := _unit(given, true):
        yield f"all spans look like {unit}, not seconds; they are scored as seconds"


def _ids(spans: Spans, odd: np.ndarray) -> str:
    return list_some(list(dict.fromkeys(spans.ids[odd].tolist())))


def _unit(given: Spans, true: Spans) -> str | None:
    if not len(given.end) or not len(true.end):
        return None
    longest = float(np.nanmax(np.fmax(true.end, true.duration)))
    if given.end.max() <= 1 + 1e-6 and longest > 2:
        return "fractions of the video"
    whole = bool((given.start % 1 == 0).all() and (given.end % 1 == 0).all())
    seconds = np.where(np.isnan(given.duration), longest, given.duration)
    if np.median(given.end / seconds) >= FRAMES:
        return "frames"
    known = np.where(np.isnan(true.duration), longest, true.duration)
    if whole and REACH * (given.end / seconds).max() < (np.fmax(true.end, true.start) / known).max():
        return "indices of segments"
    return None
