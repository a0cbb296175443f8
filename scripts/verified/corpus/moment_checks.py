"""Checks of one row of a moments file. Each failure has a reason, a slug for exclusions.jsonl, and a sentence.

Rows that cannot be used: `missing-field`, `malformed-row`, `invalid-id`, `duplicate-id`, `invalid-split`,
`empty-caption`, `long-caption`, `invalid-time` (not a finite number, or negative), `end-before-start`, and, once the
video is known, `starts-after-video`.
"""

import math
import re

from verified.io.characters import LONGEST_CAPTION, plain
from verified.io.moments_file import EXTRA_CELLS, REQUIRED

_SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class RowRefused(Exception):
    """A row that cannot become a moment."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def check_complete(row: dict) -> None:
    """Whether all required fields are there, and, in CSV, no cells without a column."""
    missing = [name for name in REQUIRED if row.get(name) is None]
    if missing:
        raise RowRefused("missing-field", f"no value for {', '.join(missing)}")
    if EXTRA_CELLS in row:
        raise RowRefused("malformed-row", "more cells than columns; put text that holds commas into quotes")


def desc_id(value: object, seen: set[int]) -> int:
    """An integer id that is not in `seen`, from 0 to 2**53 - 1: pages and submissions cannot hold larger ones exactly.

    Text of digits counts.
    """
    digits = re.fullmatch(r"\s*([0-9]{1,19})\s*", value) if isinstance(value, str) else None
    number = int(digits[1]) if digits else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**53:
        raise RowRefused("invalid-id", "desc_id must be a whole number from 0 to 2^53 - 1")
    if number in seen:
        raise RowRefused("duplicate-id", f"desc_id {number} is already used in an earlier row")
    return number


def caption(value: object) -> str:
    """The caption with runs of white space as single spaces and without control characters and marks that change the
    direction of text."""
    if not isinstance(value, str):
        raise RowRefused("empty-caption", "the caption is not text")
    text = plain(value)
    if not text:
        raise RowRefused("empty-caption", "the caption is empty")
    if len(text) > LONGEST_CAPTION:
        raise RowRefused("long-caption", f"the caption has more than {LONGEST_CAPTION} characters")
    return text


def split_name(value: object) -> str:
    """A split's name; it becomes part of file names, so only letters, digits, `_` and `-` are taken."""
    if not isinstance(value, str) or not _SPLIT.fullmatch(value):
        raise RowRefused("invalid-split", "a split's name holds letters, digits, _ and - only")
    return value


def span(row: dict) -> tuple[float, float]:
    """Start and end in seconds: finite, start from 0 on, end after start."""
    start, end = _seconds(row["start"], "start"), _seconds(row["end"], "end")
    if start < 0:
        raise RowRefused("invalid-time", "start is negative")
    if end <= start:
        raise RowRefused("end-before-start", f"end {end:g} is not after start {start:g}")
    return start, end


def end_within(start: float, end: float, duration: float) -> float:
    """`end`, at most `duration`, in seconds (decision: spans that end after the video are clamped and counted)."""
    if start >= duration:
        raise RowRefused("starts-after-video", f"start {start:g} is not before the video's end at {duration:g} s")
    return min(end, duration)


def _seconds(value: object, name: str) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
        number = math.nan if "_" in str(value) else number  # 0_1 is a number for Python alone
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = str(value)[:40]
        remedy = f": write {shown.replace(',', '.')}" if re.fullmatch(r"\d+,\d+", shown) else ""
        raise RowRefused("invalid-time", f"{name} is {shown!r}, which is not a number of seconds{remedy}")
    return number
