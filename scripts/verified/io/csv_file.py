"""CSV: files of others by the names of their columns, and our own, whose texts no spreadsheet runs as formulas.

A text that begins like a formula (=, +, -, @, tab) is written behind an apostrophe, and read without it.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from verified.errors import InputError
from verified.io.files import write_text

CsvRow = dict[str, str]
"""Cells by column; those that are empty or missing are "", those beyond the last column are left out."""


def read_csv(path: str | os.PathLike[str], needed: Iterable[str], optional: str = "") -> list[tuple[int, CsvRow]]:
    """The rows of a CSV in UTF-8 with their numbers in the file, of which the header is the first.

    Raises InputError for a file that is not there, is no such text, or lacks one of the columns `needed`; `optional`
    says which others it may have.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason})", file=path, remedy="save it as UTF-8") from None
    records = numbered(text, path)
    _, header = next(records, (1, list[str]()))
    if missing := [name for name in needed if name not in header]:
        remedy = f"needed are {', '.join(needed)}{f', and {optional}' if optional else ''}"
        raise InputError(f"missing column {', '.join(missing)}", file=path, row=1, remedy=remedy)
    return [(number, dict.fromkeys(header, "") | dict(zip(header, cells))) for number, cells in records if cells]


def numbered(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV, the header as well, with their numbers from 1 on. Raises InputError with the row in which a
    quote opens that does not close as it should."""
    reader, row = csv.reader(io.StringIO(text, newline=""), strict=True), 0
    try:
        for row, cells in enumerate(reader, start=1):
            yield row, [without_apostrophe(cell) for cell in cells]
    except csv.Error as error:
        remedy = "close the quote that opens there; a quote within quotes is written twice"
        raise InputError(f"not CSV: {error}", file=path, row=row + 1, remedy=remedy) from None


FORMULA = ("=", "+", "-", "@", "\t")
"""First characters of a cell that spreadsheets run."""


def inert(value: object) -> object:
    """A cell as it is written: texts that look like a formula behind an apostrophe, without carriage returns."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # which the csv module does not quote
    return f"'{text}" if text.startswith(FORMULA) else text


def without_apostrophe(text: str) -> str:
    """A cell as it was before `inert`."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as CSV; floats are written so that reading them gives the same number."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in row] for row in rows)
    return out.getvalue()


def write_csv(path: str | os.PathLike[str], rows: Iterable[Sequence[object]]) -> None:
    """Write `csv_text` of rows, the header first."""
    write_text(path, csv_text(rows))
