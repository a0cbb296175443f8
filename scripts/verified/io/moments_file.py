"""Moments files: JSON Lines or CSV, one moment a row, and checks of their rows.

A file that cannot be read as a whole is an InputError: no such file, a suffix other than .jsonl or .csv, bytes that are
not UTF-8, no rows, a line that is not a JSON object, a CSV header without the required columns. The caller excludes
readable but unusable rows. Byte order marks and CRLF line ends are accepted.

Each failed check of a row has a reason, a slug for exclusions.jsonl, and a sentence. Rows that cannot be used:
`missing-field`, `malformed-row`, `invalid-id`, `duplicate-id`, `invalid-split`, `empty-caption`, `long-caption`,
`invalid-time` (not a finite number, or negative), `end-before-start`, and, once the video is known,
`starts-after-video`.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from verified.errors import InputError
from verified.io.characters import LONGEST_CAPTION, plain
from verified.io.jsonl import Row, iterate_jsonl
from verified.io.text_tables import meant, open_csv

REQUIRED = ("video", "start", "end", "caption")
EXTRA_CELLS = "extra cells"
"""Key of a CSV row for the cells without a column."""
_SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def iterate_moments_file(path: str | os.PathLike[str]) -> Iterator[tuple[int, Row]]:
    """Rows with their numbers in the file, counted from 1 (in CSV the header is row 1); of JSON Lines one in memory."""
    path = Path(path)
    if not path.is_file():
        raise InputError("no such moments file", file=path, remedy="`source.moments` names it")
    kind = path.suffix.lower()
    if kind == ".jsonl":
        rows: Iterable[tuple[int, Row]] = enumerate(iterate_jsonl(path), start=1)
    elif kind == ".csv":
        header, records = open_csv(path, REQUIRED)
        rows = ((number, _name_cells(header, cells)) for number, cells in records)
    else:
        raise InputError(f"a moments file ends in .jsonl or .csv, not {path.suffix!r}", file=path)
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise InputError("holds no moments", file=path, remedy=f"give one row per moment: {', '.join(REQUIRED)}")


def _name_cells(header: list[str], cells: list[str]) -> dict[str, str | list[str]]:
    """The cells by column; an empty cell is a missing value."""
    named: dict[str, str | list[str]] = {name: cell for name, cell in zip(header, cells) if cell != ""}
    return named | {EXTRA_CELLS: cells[len(header) :]} if len(cells) > len(header) else named


class RowRefused(Exception):
    """A row that cannot become a moment."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def check_complete(row: Row) -> None:
    """Whether all required fields are present, and, in CSV, no cells without a column."""
    missing = [name for name in REQUIRED if row.get(name) is None]
    if missing:
        others = (name for name in row if name not in REQUIRED)
        raise RowRefused("missing-field", f"no value for {', '.join(missing)}{meant(missing, others)}")
    if EXTRA_CELLS in row:
        raise RowRefused("malformed-row", "more cells than columns; put text that holds commas into quotes")


def desc_id(value: object, ids: set[int]) -> int:
    """An integer id that is not in `ids`, from 0 to 2**53 - 1: pages and submissions cannot hold larger ones exactly.

    Text of digits counts.
    """
    digits = re.fullmatch(r"\s*([0-9]{1,19})\s*", value) if isinstance(value, str) else None
    number = int(digits[1]) if digits else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**53:
        raise RowRefused("invalid-id", "desc_id must be a whole number from 0 to 2^53 - 1")
    if number in ids:
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
    """A split's name; it becomes part of file names, so only letters, digits, `_` and `-` are allowed."""
    if not isinstance(value, str) or not _SPLIT.fullmatch(value):
        raise RowRefused("invalid-split", "a split's name holds letters, digits, _ and - only")
    return value


def span(row: Row) -> tuple[float, float]:
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
        text = str(value)[:40]
        remedy = f": write {text.replace(',', '.')}" if re.fullmatch(r"\d+,\d+", text) else ""
        raise RowRefused("invalid-time", f"{name} is {text!r}, which is not a number of seconds{remedy}")
    return number
