"""Common parts of submissions to all benchmarks: rows by id, spans in seconds, the queries that are scored, and the
answers to each, as comparisons need them.

No evaluator refuses spans that are reversed, without length, beyond their video, or in another unit than seconds;
`span_notes` reports them, as they are usually mistakes.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from verified.errors import InputError
from verified.io.files import checked
from verified.io.jsonl import Row, finite, is_array, is_object, is_span, iterate_jsonl, read_json

NAMED = 8
"""Ids that a message names before it only counts."""


def list_some(ids: Sequence[object], most: int = NAMED) -> str:
    """``3, 4, 5``, at most so many, and how many more."""
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(map(str, ids[:most])) + more


LONGEST = 2**20
"""Bytes of a first row; a longer line is a document, of which only the beginning is read."""
ROW_KEYS = {"qid", "desc_id", "query_id"}
"""Keys of rows; an object on one line without them is a document."""


def first_row(path: Path) -> Row:
    """The first row of a JSON Lines file or of a JSON list; empty for any other or unreadable document."""
    try:
        with checked(path).open("rb") as file:
            text = file.read(LONGEST).decode("utf-8-sig", errors="ignore").lstrip()
        is_list = text.startswith("[")
        row, _ = json.JSONDecoder().raw_decode(text[1:].lstrip() if is_list else text.split("\n", 1)[0])
    except (OSError, ValueError, RecursionError):
        return {}
    if not is_object(row) or not (is_list or ROW_KEYS & set(row)):
        return {}
    return row


def rows_by_id(
    path: str | os.PathLike,
    key: str,
    required: Sequence[str] = (),
    last_of_equal_ids: bool = False,
    remedy: str = "keep one row for each (windows and questions: --last-of-equal-ids takes the last)",
) -> Iterator[tuple[int, str, Row]]:
    """Number, from 1, id and content of each row of a JSON Lines file, or of one JSON array.

    Raises InputError, with the row, for an id that is neither text nor whole number, and for a repeated id unless the
    last may count.
    """
    names = set()
    for number, row in enumerate(json_rows(path, (key, *required)), start=1):
        name = row[key]
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{key!r} must be a text that is not empty, found {name!r:.80}", file=path, row=number)
        if name in names and not last_of_equal_ids:
            raise InputError(f"{key!r} {name} is also in an earlier row", file=path, row=number, remedy=remedy)
        names.add(name)
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
class WindowAnswer:
    """Answers of a submission to a query; None for a kind that it lacks."""

    windows: np.ndarray | None
    """[R, 3] start and end in seconds and a score, in the order of the file."""
    saliency: np.ndarray | None
    """[clips] the higher, the better a clip shows the query."""


def read_window_answers(path: str | os.PathLike, last_of_equal_ids: bool = False) -> dict[str, WindowAnswer]:
    """Answers by id of a submission in QVHighlights' form.

    A row: ``qid, pred_relevant_windows [[start, end, score], ...], pred_saliency_scores`` (one for each clip of the
    video), or one of the two; all rows have windows, or saliency, or both.

    A repeated id is an error unless `last_of_equal_ids`. Raises InputError with the row for an invalid window or list
    of numbers, and for another kind than the first row's.
    """
    answers: dict[str, WindowAnswer] = {}
    kinds: tuple[str, ...] | None = None
    for number, qid, row in rows_by_id(path, "qid", (), last_of_equal_ids):
        present = tuple(key for key in ("pred_relevant_windows", "pred_saliency_scores") if key in row)
        kinds = present if kinds is None else kinds
        if not present or present != kinds:
            raise InputError(
                f"qid {qid} has {' and '.join(present) or 'no answer'}"
                + (f", the rows before {' and '.join(kinds)}" * bool(kinds)),
                file=path,
                row=number,
                remedy="give pred_relevant_windows, pred_saliency_scores or both, in all rows the same",
            )
        if problem := _answer_problem(row):
            raise InputError(f"qid {qid}: {problem}", file=path, row=number)
        windows, saliency = (row.get(key) for key in ("pred_relevant_windows", "pred_saliency_scores"))
        answers[qid] = WindowAnswer(
            None if windows is None else np.array(windows, np.float64).reshape(-1, 3),
            None if saliency is None else np.array(saliency, np.float64),
        )
    if not answers:
        raise InputError("the submission is empty", file=path)
    return answers


def _answer_problem(row: dict) -> str | None:
    windows, saliency = row.get("pred_relevant_windows", []), row.get("pred_saliency_scores", [0])
    if not is_array(windows) or not all(is_span(window, 3) and len(window) == 3 for window in windows):
        return f"pred_relevant_windows must be a list of [start, end, score], found {windows!r:.80}"
    if not is_array(saliency) or not saliency or not all(map(finite, saliency)):
        return f"pred_saliency_scores must be a number for each clip of the video, found {saliency!r:.80}"
    return None


@dataclass(frozen=True)
class Matched:
    """Ids of a ground truth and of a submission: in both, in the order of the truth, or in one alone, sorted."""

    both: list[Any]
    missing: list[Any]
    unknown: list[Any]
    notes: list[str]
    """A sentence for each kind of id that is omitted."""


def match(
    ids: Collection[Any],
    rows: Mapping[Any, object],
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
    true_ids = set(ids)
    both = [i for i in ids if i in rows]
    missing, unknown = sorted(true_ids - rows.keys()), sorted(rows.keys() - true_ids)
    absent, stray = (f"{key}{list_some(some)}" for some in (missing, unknown))
    if (missing or unknown) and not partial:
        problems = [f"no {answer} for {absent}"] if missing else []
        problems += [f"unknown {stray}"] if unknown else []
        raise InputError(
            f"{where}{'; '.join(problems)}",
            file=file,
            remedy=f"give one {answer} for each of the {queries}, or --partial to score those that both files have",
        )
    if not both:
        raise InputError(
            f"{where}not one of the {queries} is in it", file=file, remedy="check that the files belong together"
        )
    notes: list[str] = []
    if missing:
        notes.append(f"{len(missing)} {queries} without a {answer} are left out, not counted as wrong: {absent}")
    if unknown:
        notes.append(f"{len(unknown)} {answer}s of unknown {queries} are left out: {stray}")
    return Matched(both, missing, unknown, notes)


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


def span_notes(answers: Spans, true: Spans, key: str) -> Iterator[str]:
    """A sentence for each kind of odd span; `key` is the name of an id, with a blank."""
    for name, spans, effect in (
        ("true spans", true, "no answer to them can be right"),
        ("spans", answers, "they overlap with nothing"),
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
    if unit := _unit(answers, true):
        yield f"all spans look like {unit}, not seconds; they are scored as seconds"


def _ids(spans: Spans, odd: np.ndarray) -> str:
    return list_some(list(dict.fromkeys(spans.ids[odd].tolist())))


def _unit(answers: Spans, true: Spans) -> str | None:
    if not len(answers.end) or not len(true.end):
        return None
    longest = float(np.nanmax(np.fmax(true.end, true.duration)))
    if answers.end.max() <= 1 + 1e-6 and longest > 2:
        return "fractions of the video"
    whole = bool((answers.start % 1 == 0).all() and (answers.end % 1 == 0).all())
    seconds = np.where(np.isnan(answers.duration), longest, answers.duration)
    if np.median(answers.end / seconds) >= FRAMES:
        return "frames"
    lengths = np.where(np.isnan(true.duration), longest, true.duration)
    if whole and REACH * (answers.end / seconds).max() < (np.fmax(true.end, true.start) / lengths).max():
        return "indices of segments"
    return None


Prediction = tuple[str, float, float]
"""Video, start and end in seconds."""


@dataclass(frozen=True)
class Query:
    """Properties of a query in the ground truth; None where it states none."""

    id: int | str
    video: str
    """The video, or movie, that it is about."""
    start: float
    end: float
    caption: str
    kind: str | None = None
    duration: float | None = None
    spans: tuple[tuple[float, float], ...] = ()
    """All its spans, where it may have several: of annotators, or windows; `start` and `end` are the first of them."""
    windows: bool = False
    """Whether each of its spans is right alone (`vcmr.metrics.Truth.windows`)."""
    tvr_type: Any = None
    """Its type in TVR: v, t or vt."""


@dataclass(frozen=True)
class Answers:
    """One submission, query by query, in the order of the ground truth."""

    values: dict[str, np.ndarray]
    """{metric: [Q]} from 0 to 1."""
    ranks: np.ndarray
    """[Q] rank, from 1, of the first right answer at tIoU 0.5; infinity without one."""
    first: list[Prediction | None]
    """[Q] the first span that is answered."""


class GroundTruth(Protocol):
    """A ground truth in the form of one benchmark, which scores submissions in that form."""

    compared: tuple[str, ...]
    """Default metrics for comparing runs; queries are grouped by the first metric that exists."""
    table_metrics: tuple[str, ...]
    """Metrics of the table of scores, which is ordered by the first."""
    ending: str
    """Ending of a submission's name."""

    def queries(self) -> list[Query]:
        """All queries."""
        ...

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """Score a submission, after suppressing spans whose tIoU with a better one exceeds `nms_threshold`.

        Raises InputError unless it answers every query and no other.
        """
        ...
