"""CSV files of others by the names of their columns, with errors that name file and row."""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from verified.errors import InputError

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
            yield row, cells
    except csv.Error as error:
        remedy = "close the quote that opens there; a quote within quotes is written twice"
        raise InputError(f"not CSV: {error}", file=path, row=row + 1, remedy=remedy) from None
