"""Questions and submissions in the released JSON Lines forms of ReXTime, checked row by row.

A question: ``qid, query, duration (s), vid, relevant_windows [[start, end], ...] (s), ans (A to D)``; ``question`` and
``span``, as in the authors' demo, represent ``query`` and its one window; ``category`` or ``kind`` is the kind. The
file may also be one JSON array, as the data set with options is published. A row of a submission: ``qid,
pred_relevant_windows [[start, end, (score)], ...], ans``; of the windows only the first counts.
"""

import dataclasses
import os
from collections import defaultdict
from pathlib import Path
from typing import Literal

from verified.benchmark.submissions import list_some, rows_by_id
from verified.errors import InputError
from verified.io.jsonl import finite, is_span
from verified.runtime.seeds import derive_seed
from verified_rextime.config import ReleasedQuestions

LETTERS = ("A", "B", "C", "D")
NOT_ANSWERED = (0.0, 0.0)
"""Placeholder for a missing window: of an answer that could not be read, of a video that could not be shown."""
TWICE = "keep one row per question, or let the last one win with --last-of-equal-ids"
NOT_PARSED = "submit [[0, 0]] for an answer that could not be parsed: it overlaps with nothing"

Mode = Literal["both", "grounding", "vqa"]


@dataclasses.dataclass(frozen=True)
class Question:
    """One question with its truth: `windows` in seconds, empty if unknown; `answer` and `options`, the texts that a
    system chooses from, None if the file has none.
    """

    qid: str
    query: str
    video: str
    duration: float
    windows: tuple[tuple[float, float], ...]
    answer: str | None = None
    options: tuple[str, ...] | None = None
    kind: str | None = None
    """sequential, cause_effect or means_to_an_end; None if the file names none."""


@dataclasses.dataclass(frozen=True)
class Prediction:
    """One row of a submission: the first window in seconds and the letter; None if the mode does not use it."""

    window: tuple[float, float] | None
    answer: str | None


def read_questions(path: str | os.PathLike, scored: bool = True) -> list[Question]:
    """All questions of a file in the released form, in its order; other keys are ignored.

    scored: whether each needs its windows. Raises InputError for a row without its keys, an invalid window, options
    that are not four texts, and an id that two rows share.
    """
    questions: dict[str, Question] = {}
    for number, qid, fields in rows_by_id(path, "qid", ("duration", "vid")):
        row = _released_row(fields)
        if problem := question_problem(row, scored):
            raise InputError(problem, file=path, row=number, remedy="correct the row, or leave it out")
        options = row.get("options")
        questions[qid] = Question(
            qid,
            row["query"],
            row["vid"],
            float(row["duration"]),
            tuple((float(start), float(end)) for start, end in row.get("relevant_windows") or ()),
            row.get("ans"),
            tuple(options) if options else None,
            row.get("kind"),
        )
    if not questions:
        raise InputError("the file holds no questions", file=path)
    return list(questions.values())


def _released_row(row: dict) -> dict:
    """A row with the names of the released form, converted from those of the authors' demo."""
    renamed = {"question": "query", "span": "relevant_windows", "category": "kind"}
    row = {renamed.get(key, key) if renamed.get(key) not in row else key: value for key, value in row.items()}
    if is_span(row.get("relevant_windows")):
        row["relevant_windows"] = [row["relevant_windows"]]
    if isinstance(row.get("kind"), str):
        kind = row["kind"].strip().lower().replace("-", "_").replace(" ", "_")
        row["kind"] = {"means_end": "means_to_an_end", "means_ends": "means_to_an_end"}.get(kind, kind) or None
    return row


def question_problem(row: dict, scored: bool) -> str | None:
    """The problem with a row in the released form, or None. `scored`: whether it needs its windows."""
    for key in ("query", "vid"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            return f"{key!r} must be a text that is not empty, found {row.get(key)!r:.80}"
    if not finite(row.get("duration")) or row["duration"] <= 0:
        return f"'duration' must be a positive number of seconds, found {row.get('duration')!r:.80}"
    windows = row.get("relevant_windows")
    if (scored or windows) and (not isinstance(windows, list) or not windows or not all(map(is_span, windows))):
        return f"'relevant_windows' must be a list of [start, end] in seconds, found {windows!r:.80}"
    if row.get("ans") is not None and row["ans"] not in LETTERS:
        return f"'ans' must be one of {', '.join(LETTERS)}, found {row['ans']!r:.80}"
    if row.get("kind") is not None and not isinstance(row["kind"], str):
        return f"the kind must be a text, found {row['kind']!r:.80}"
    options = row.get("options")
    texts = isinstance(options, list) and all(isinstance(text, str) and text.strip() for text in options)
    if options and (not texts or len(options) != len(LETTERS)):
        return f"'options' must be {len(LETTERS)} texts, found {options!r:.80}"
    return None


def read_submission(
    path: str | os.PathLike,
    mode: Mode | Literal["first-row"] = "both",
    last_of_equal_ids: bool = False,
    may_be_empty: bool = False,
) -> tuple[Mode, dict[str, Prediction]]:
    """The mode used, and the predictions by id.

    `mode` is the content of the rows: windows and letters, windows, or letters; ``first-row`` guesses it from the first
    row as the official evaluator does. A repeated id is an error unless `last_of_equal_ids` lets the last row win, as
    there. Raises InputError if the official evaluator stops with a KeyError (a row without its letter) or an IndexError
    (no window), naming the row.
    """
    predictions: dict[str, Prediction] = {}
    answer_mode: Mode | None = None if mode == "first-row" else mode
    for number, qid, row in rows_by_id(path, "qid", (), last_of_equal_ids, TWICE):
        answer_mode = answer_mode or mode_of(row)
        predictions[qid] = Prediction(
            _window(row, path, number) if answer_mode != "vqa" else None,
            _letter(row, path, number) if answer_mode != "grounding" else None,
        )
    if not predictions and not may_be_empty:
        raise InputError("the submission is empty", file=path)
    return answer_mode or "both", predictions


def mode_of(row: dict) -> Mode:
    """Mode that the official evaluator infers from this first row of a submission."""
    if "pred_relevant_windows" in row and "ans" not in row:
        return "grounding"
    if "ans" in row and "pred_relevant_windows" not in row:
        return "vqa"
    return "both"


def _window(row: dict, path: str | os.PathLike, number: int) -> tuple[float, float]:
    windows = row.get("pred_relevant_windows")
    if windows is None:
        raise InputError(
            f"'qid' {row['qid']} has no pred_relevant_windows",
            file=path,
            row=number,
            remedy=f"{NOT_PARSED}; --mode vqa scores letters alone",
        )
    if windows == []:
        raise InputError(f"'qid' {row['qid']} has an empty list of windows", file=path, row=number, remedy=NOT_PARSED)
    if not isinstance(windows, list) or not is_span(windows[0], 3):
        raise InputError(
            f"'qid' {row['qid']}: pred_relevant_windows must be a list of [start, end] in seconds, best first, "
            f"found {windows!r:.80}",
            file=path,
            row=number,
            remedy=NOT_PARSED,
        )
    return float(windows[0][0]), float(windows[0][1])


def _letter(row: dict, path: str | os.PathLike, number: int) -> str | None:
    if "ans" not in row:
        raise InputError(
            f"'qid' {row['qid']} has no ans",
            file=path,
            row=number,
            remedy="give a letter (null for no answer), or score windows alone with --mode grounding",
        )
    if row["ans"] is not None and not isinstance(row["ans"], str):
        raise InputError(f"'ans' must be a letter or null, found {row['ans']!r:.80}", file=path, row=number)
    return row["ans"]


def choose(questions: list[Question], section: ReleasedQuestions, seed: int) -> list[Question]:
    """The questions of a test, in the order of the file: all, or the sample that `section` describes.

    Raises InputError for a question without a kind, a kind with too few questions, and a listed id that is unknown.
    """
    chosen = {question.qid for question in questions}
    if section.only:
        chosen = _listed(section.only, chosen, section.questions)
    if section.per_kind:
        listed = [question for question in questions if question.qid in chosen]
        chosen = _drawn(listed, section.per_kind, section.questions, seed)
    return [question for question in questions if question.qid in chosen]


def _listed(file: str, qids: set[str], source: str) -> set[str]:
    if not Path(file).is_file():
        raise InputError("no such file", file=file, remedy="name a text file with one qid a line")
    listed = {line.strip() for line in Path(file).read_text(encoding="utf-8-sig").splitlines() if line.strip()}
    if unknown := sorted(listed - qids):
        raise InputError(f"ids that {source} does not have: {list_some(unknown)}", file=file, remedy="correct the list")
    if not listed:
        raise InputError("lists no id", file=file, remedy="name one qid a line")
    return listed


def _drawn(questions: list[Question], per_kind: int, source: str, seed: int) -> set[str]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        if question.kind is None:
            raise InputError(
                f"question {question.qid} names no kind, and the test takes {per_kind} of each",
                file=source,
                remedy="use the file with the key category (or kind), or list the ids in a file (`only`)",
            )
        kinds[question.kind].append(question.qid)
    if few := [f"{kind} has {len(ids)}" for kind, ids in sorted(kinds.items()) if len(ids) < per_kind]:
        remedy = f"set per_kind to at most {min(map(len, kinds.values()))}"
        raise InputError(f"too few questions for {per_kind} of each kind: {', '.join(few)}", file=source, remedy=remedy)
    drawn = (sorted(ids, key=lambda qid: derive_seed(seed, "mini test", qid))[:per_kind] for ids in kinds.values())
    return {qid for ids in drawn for qid in ids}
