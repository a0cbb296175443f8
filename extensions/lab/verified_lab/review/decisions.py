"""Decisions of reviewers, as the pages save them: JSON Lines, one decision a line.

Keys: ``dataset, desc_id, video, start, end`` (the displayed moment; seconds), ``decision`` (one of DECISIONS), ``type,
candidate, caption`` (the judged caption), ``reviewer, when`` (UTC, ISO 8601), and ``instead`` for choose (an object
with type, candidate, caption), ``text`` for edit and draw, ``reason`` for reject and, if given, for flag,
and ``time`` (start and end, seconds of the video) for draw and, if corrected, accept, choose and edit.

``moment`` is the content id of the displayed moment (see `content_id`), ``version`` the one of this form.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping

from verified.errors import InputError
from verified.io.characters import LONGEST_CAPTION, hidden
from verified.io.fig import TYPES
from verified.io.files import require_version
from verified.io.jsonl import finite, is_span, iterate_jsonl

VERSION = 2
DECISIONS = ("accept", "choose", "edit", "reject", "draw", "flag", "withdraw")
"""accept: the caption is right; choose: another candidate is; edit: this text is; reject: none is; draw: the video
has one more moment; flag: somebody should look; withdraw: cancels earlier decisions of the same reviewer on the moment,
and moments drawn on its clip.
"""
ADDITIONAL = ("flag", "draw")
"""Decisions that are independent of the one on a moment."""
KEYS = (
    *("version", "dataset", "desc_id", "moment", "video", "start", "end"),
    *("decision", "type", "candidate", "caption", "reviewer", "when"),
)
WHEN = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
"""One length, so that the order of the texts is that of the times."""
AGAIN = "save the decisions again from the review page"


def content_id(video: str, start: float, end: float, caption: str) -> str:
    """16 hex digits from the content of a moment (`start`, `end` in seconds), independent of its number and place."""
    identity = json.dumps([video, round(start, 3), round(end, 3), caption], ensure_ascii=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def read_decisions(paths: Iterable[str | os.PathLike]) -> list[dict]:
    """All decisions of all files, each with its ``file`` and ``row``, without duplicates.

    Raises InputError, with file and row, for a row that no page writes.
    """
    decisions, names = [], set()
    for path in paths:
        for number, row in enumerate(iterate_jsonl(path, KEYS), start=1):
            require_version(row["version"], VERSION, f"decision in row {number}", path, AGAIN)
            if problem := decision_problem(row):
                raise InputError(problem, file=path, row=number, remedy=AGAIN)
            name = repr(sorted(row.items(), key=lambda item: item[0]))
            if name not in names:
                names.add(name)
                decisions.append({**row, "file": str(path), "row": number})
    return decisions


def decision_problem(row: Mapping) -> str | None:
    """The problem with a decision that has all KEYS, or None."""
    if row["decision"] not in DECISIONS:
        return f"the decision {row['decision']!r:.60} is none of {', '.join(DECISIONS)}"
    for key in ("dataset", "moment", "video", "caption", "reviewer"):
        if problem := _text_problem(row[key]):
            return f"{key!r} {problem}"
    if type(row["desc_id"]) is not int:
        return "'desc_id' is not a whole number"
    if not finite(row["start"]) or not finite(row["end"]):
        return "'start' and 'end' are not seconds"
    if not isinstance(row["when"], str) or not WHEN.fullmatch(row["when"]):
        return "'when' is not a time such as 2026-01-31T12:00:00Z"
    if problem := _caption_problem(row):
        return problem
    if row["decision"] == "choose":
        instead = row.get("instead")
        if not isinstance(instead, dict) or not {"type", "candidate", "caption"} <= instead.keys():
            return "'instead' does not say which candidate was chosen"
        return _caption_problem(instead) or (_text_problem(instead["caption"]) and "the chosen caption is not a text")
    for decision, key in (("edit", "text"), ("draw", "text"), ("reject", "reason")):
        if row["decision"] == decision and (problem := _text_problem(row.get(key))):
            return f"{key!r} {problem}"
    reason = row.get("reason")
    if reason and (problem := _text_problem(reason)):
        return f"'reason' {problem}"
    if ("time" in row or row["decision"] == "draw") and not _is_moment_span(row.get("time")):
        return "'time' is not [start, end] in seconds"
    return None


def _is_moment_span(value: object) -> bool:
    """Return whether a value is [start, end] of a moment: seconds, not reversed and not empty."""
    return is_span(value) and 0 <= value[0] < value[1]  # pyright: ignore[reportIndexIssue]


def _caption_problem(row: Mapping) -> str | None:
    if row["type"] not in TYPES:
        return f"'type' is none of {', '.join(TYPES)}"
    whole = type(row["candidate"]) is int and row["candidate"] >= 0
    return None if whole else "'candidate' is not the number of a candidate"


def _text_problem(value: object) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return "must be a text that is not empty"
    if len(value) > LONGEST_CAPTION:
        return f"must not have more than {LONGEST_CAPTION} characters"
    return f"holds the control character {hidden(value)}" if hidden(value) else None
