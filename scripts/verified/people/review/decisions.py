"""Decisions of reviewers, as the pages save them: JSON Lines, one decision a line.

Keys: ``dataset, desc_id, video, start, end`` (what was shown; seconds), ``decision`` (one of DECISIONS), ``type,
candidate, caption`` (the caption that was judged), ``reviewer, when`` (UTC, ISO 8601), and ``instead`` for choose (an
object with type, candidate, caption), ``text`` for edit, ``reason`` for reject and, if given, for flag.
"""

import os
import re
from collections.abc import Iterable

from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.fig import TYPES
from verified.io.jsonl import finite, iterate_jsonl

DECISIONS = ("accept", "choose", "edit", "reject", "flag", "withdraw")
"""accept: the caption is right; choose: another candidate is; edit: this text is; reject: none is; flag: somebody
should look; withdraw: an earlier decision of the same reviewer on the moment counts no more."""
KEYS = ("dataset", "desc_id", "video", "start", "end", "decision", "type", "candidate", "caption", "reviewer", "when")
WHEN = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z")
AGAIN = "save the decisions again from the review page"


def read_decisions(paths: Iterable[str | os.PathLike]) -> list[dict]:
    """All decisions of all files, each with its ``file`` and ``row``; a repeated one is taken once.

    Raises InputError, with file and row, for a row that no page writes.
    """
    decisions, seen = [], set()
    for path in paths:
        for number, row in enumerate(iterate_jsonl(path, KEYS), start=1):
            if problem := _problem(row):
                raise InputError(problem, file=path, row=number, remedy=AGAIN)
            name = repr(sorted(row.items(), key=lambda item: item[0]))
            if name not in seen:
                seen.add(name)
                decisions.append({**row, "file": str(path), "row": number})
    return decisions


def _problem(row: dict) -> str | None:
    """What is wrong with a decision; None if nothing."""
    if row["decision"] not in DECISIONS:
        return f"the decision {row['decision']!r:.60} is none of {', '.join(DECISIONS)}"
    for key in ("dataset", "video", "caption", "reviewer"):
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
    for decision, key in (("edit", "text"), ("reject", "reason")):
        if row["decision"] == decision and (problem := _text_problem(row.get(key))):
            return f"{key!r} {problem}"
    return None


def _caption_problem(row: dict) -> str | None:
    if row["type"] not in TYPES:
        return f"'type' is none of {', '.join(TYPES)}"
    whole = type(row["candidate"]) is int and row["candidate"] >= 0
    return None if whole else "'candidate' is not the number of a candidate"


def _text_problem(value: object) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return "must be a text that is not empty"
    return f"holds the control character {hidden(value)}" if hidden(value) else None
