"""Tables as text: CSV files, foreign and our own, and aligned columns for a terminal.

No spreadsheet runs a text of our CSV as a formula: a text that begins like one (=, +, -, @, tab) is written behind an
apostrophe, and read without it.
"""

import csv
import io
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import read_text, write_text

CsvRow = dict[str, str]
"""Cells by column; empty or missing cells are "", cells beyond the last column are dropped."""
SEPARATORS = {";": "semicolons", "\t": "tabs"}
"""Separators of other tables called CSV; their numbers often contain commas, so they are refused."""
SEPARATOR_LINE = re.compile(r"sep=", re.IGNORECASE)
"""Line that Excel writes above the header to name the separator."""


def read_csv(path: str | os.PathLike[str], needed: Iterable[str], optional: str = "") -> list[tuple[int, CsvRow]]:
    """The rows of a CSV with their numbers in the file. Raises InputError as `open_csv` does."""
    header, records = open_csv(Path(path), tuple(needed), optional)
    return [(number, dict.fromkeys(header, "") | dict(zip(header, cells))) for number, cells in records]


def open_csv(
    path: Path, needed: Sequence[str], optional: str = ""
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV in UTF-8, and the other rows that are not empty, with their numbers in the file.

    Raises InputError for a file that is missing, is not such a text, or lacks one of the columns `needed`; `optional`
    lists other columns.
    """
    text = read_text(path)
    if "\0" in text:
        raise InputError("holds NUL bytes; is this a CSV file?", file=path)
    records = _numbered(text, path)
    row, header = next(records, (1, list[str]()))
    if len(header) <= 2 and SEPARATOR_LINE.match(header[0] if header else ""):
        row, header = next(records, (2, list[str]()))
    header = [name.strip() for name in header]
    if missing := [name for name in needed if name not in header]:
        for mark, separators in SEPARATORS.items():
            if set(needed) <= {name.strip() for name in ",".join(header).split(mark)}:
                remedy = "save it with commas between cells and points in numbers (0.5): with the spreadsheet's"
                remedy += " language set to English, or by `Save as`, `CSV`, with a comma as field separator"
                raise InputError(f"its cells are separated by {separators}", file=path, row=row, remedy=remedy)
        problem = f"the header lacks {', '.join(map(repr, missing))}{meant(missing, header)}"
        columns = f"{', '.join(needed)}{f', and {optional}' if optional else ''}"
        remedy = f"the first row names the columns, separated by commas: {columns}"
        raise InputError(problem, file=path, row=row, remedy=remedy)
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        raise InputError("the header names a column twice", file=path, row=row)
    return header, ((number, cells) for number, cells in records if cells)


def meant(missing: Iterable[str], columns: Iterable[str]) -> str:
    """A question about the given names that may mean missing ones: in other case, or as in `VIDEO_ID`."""
    names = [name for name in columns if any(name.strip().casefold().startswith(start) for start in missing)]
    return f" (is {' and '.join(map(repr, names))} meant?)" if names else ""


def _numbered(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV, the header as well, with their numbers from 1 on. Raises InputError with the row of a quote
    that is not closed properly."""
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
    """A cell for writing: texts that look like a formula get an apostrophe, and carriage returns are removed."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # the csv module does not quote it
    return f"'{text}" if text.startswith(FORMULA) else text


def without_apostrophe(text: str) -> str:
    """Undo `inert` on a cell."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as CSV; floats are written so that reading them gives the same number."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in row] for row in rows)
    return out.getvalue()


def write_csv(path: str | os.PathLike[str], rows: Iterable[Sequence[object]]) -> None:
    """Write `csv_text` of rows, the header first."""
    write_text(path, csv_text(rows))


def align(lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Align lines of cells, each column as wide as needed; the columns `right`, numbered from 0, to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def text_table(columns: list[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as plain text under the names of their columns, numbers to the right."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    right = [
        number
        for number, column in enumerate(columns)
        if all(isinstance(row.get(column), int | float | None) for row in rows)
    ]
    return align([columns, *cells], right)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
