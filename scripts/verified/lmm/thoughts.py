"""Separate the thoughts of a model from its answer, in every known textual form of models and servers.

Differences between models: some mark both ends, some the end alone (their chat template opens the thought), some name
channels, some mark the answer instead. A marker between two quotes is quoted text and not a marker.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from verified.lmm.patterns import compiled

QUOTES = "\"'“”‘’«»`「」"
SIGNS = ("<", "[", "◁", "【", "＜", "&lt;", "```", "thought", "thinking", "reasoning", "analysis", "思考", "推理")
"""Every text with a marker contains one of these; most texts have none."""


class Separated(NamedTuple):
    """A text in its parts. `opened_before`: the prompt had opened the thought."""

    answer: str
    thought: str = ""
    opened_before: bool = False


class _Mark(NamedTuple):
    start: int
    end: int
    closes: bool


def separate(text: str, cut: bool = False) -> Separated:
    """The answer in `text`, and its thoughts; a text without any marker is all answer.

    The answer begins behind the last thought; parts of an answer that thoughts interrupt are joined. An unclosed
    thought means that there is no answer; so does a text that is `cut` off at the token limit and begins as thoughts
    do.
    """
    parts = _separate(text)
    return Separated("", text) if cut and parts.answer == text and _pattern("plans").match(text) else parts


def _pattern(group: str) -> re.Pattern[str]:
    return compiled("thoughts", group)


def _separate(text: str) -> Separated:
    low = text.lower()
    if not any(sign in low for sign in SIGNS):
        return Separated(text)
    marks = list(_thought_marks(text))
    if not marks:
        if match := _pattern("headings").match(text):
            return Separated(text[match.end() :].strip(), match[0].strip())
        return _unwrap(Separated(text))
    pieces, thoughts, inside, at = list[str](), list[str](), False, 0
    for mark in marks:
        run, at = text[at : mark.start], mark.end
        if mark.closes and not inside:
            thoughts += [*pieces, run]
            pieces = []
        else:
            (thoughts if inside else pieces).append(run)
        inside = not mark.closes
    opened_before = marks[0].closes
    if inside:
        return Separated("", _joined([*pieces, *thoughts, text[at:]]), opened_before)
    return _unwrap(Separated(_answer_of([*pieces, text[at:]]), _joined(thoughts), opened_before))


def has_thought(text: str) -> bool:
    """Whether `text` holds a thought, or a marker of one."""
    return separate(text).answer != text


def ends_in_thought(prompt: str) -> bool:
    """Whether a prompt, as its chat template wrote it, ends with the opening of a thought."""
    tail = prompt[-200:].rstrip()
    marks = [*_tags(tail, "tag"), *_marks(tail, "opens", False)]
    return any(not mark.closes and not tail[mark.end :].strip() for mark in marks)


def _tags(text: str, group: str) -> list[_Mark]:
    return [_Mark(m.start(), m.end(), bool(m["end"] or m["end_after"])) for m in _pattern(group).finditer(text)]


def _marks(text: str, group: str, closes: bool, start: int = 0) -> list[_Mark]:
    return [_Mark(m.start(), m.end(), closes) for m in _pattern(group).finditer(text, start)]


def _thought_marks(text: str) -> Iterator[_Mark]:
    """Markers of thoughts in their order.

    An opening one within a line counts only if a closing one follows.
    """
    opening = _marks(text, "opens", False)
    marks = [*_whole_tags(text, "tag"), *opening, *_marks(text, "closes", True)]
    if opening and text[: opening[0].end].lstrip().startswith("```"):
        marks += _marks(text, "fence-end", True, opening[0].end)[:1]
    if starts := [mark.start for mark in marks if not mark.closes]:
        marks += _marks(text, "closes-if-opened", True, min(starts))
    marks = sorted(mark for mark in marks if not _is_quoted(text, mark))
    at, last_closing = 0, max((mark.start for mark in marks if mark.closes), default=-1)
    for mark in marks:
        if mark.start < at:  # within the one before
            continue
        begins = _begins_line(text, mark.start) or (at and not text[at : mark.start].strip())
        if mark.closes or begins or mark.start < last_closing:
            at = mark.end
            yield mark


def _whole_tags(text: str, group: str) -> list[_Mark]:
    """Tags that are not empty elements, ``<think/>``."""
    return [mark for mark in _tags(text, group) if not text[: mark.end].endswith(("/>", "/&gt;"))]


def _is_quoted(text: str, mark: _Mark) -> bool:
    before, after = text[mark.start - 1 : mark.start], text[mark.end : mark.end + 1]
    return bool(before and after) and before in QUOTES and after in QUOTES


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t>*#`")


def _answer_of(pieces: list[str]) -> str:
    """The text between and behind thoughts: the last piece, and those that it continues."""
    parts = [piece.strip() for piece in (_pattern("turn-end").sub("", piece) for piece in pieces) if piece.strip()]
    if not parts:
        return ""
    if _begins_json(parts[0]) and not re.search(r"[}\]]\W*$", parts[0]):  # thoughts within JSON
        return "".join(parts)
    first = len(parts) - 1
    while first and re.match(r"[\W_]{0,5}(?:[2-9]|[1-9]\d)\s*[.):\]、．）：]", parts[first]):
        first -= 1
    return "\n".join(parts[first:])


def _begins_json(text: str) -> bool:
    return re.match(r"\s*(?:```\w*\s*)?[{\[]", text) is not None


def _unwrap(parts: Separated) -> Separated:
    """Remove the wrapper of the answer, such as ``<answer>…</answer>``; text outside it counts as thought."""
    text = parts.answer
    marks = [mark for mark in _whole_tags(text, "answer-tag") if not _is_quoted(text, mark)]
    last_closing = max((mark.start for mark in marks if mark.closes), default=-1)
    marks = [mark for mark in marks if mark.start <= last_closing or _begins_line(text, mark.start)]
    if not marks:
        return parts
    if _begins_json(text) and text[: marks[0].start].strip():  # marks within JSON
        for mark in reversed(marks):
            text = text[: mark.start] + text[mark.end :]
        return parts._replace(answer=text.strip())
    inside, outside, at, is_open = list[str](), list[str](), 0, marks[0].closes
    for mark in marks:
        (inside if is_open else outside).append(text[at : mark.start])
        at, is_open = mark.end, not mark.closes
    (inside if is_open else outside).append(text[at:])
    return parts._replace(answer=_joined(inside), thought=_joined([parts.thought, *outside]))


def _joined(texts: list[str]) -> str:
    return "\n".join(text.strip() for text in texts if text.strip())
