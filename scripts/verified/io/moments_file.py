"""Moments files: JSON Lines or CSV, one moment a row.

A file that cannot be read as a whole is an InputError: no such file, a suffix other than .jsonl or .csv, bytes that are
not UTF-8, no rows, a line that is not a JSON object, a CSV header without the required columns. The caller excludes
readable but unusable rows. Byte order marks and CRLF line ends are accepted.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import Row, iterate_jsonl
from verified.io.text_tables import numbered

REQUIRED = ("video", "start", "end", "caption")
SEPARATORS = {";": "semicolons", "\t": "tabs"}
"""Separators of other tables called CSV; their numbers often contain commas, so they are refused."""
SEPARATOR_LINE = re.compile(r"sep=", re.IGNORECASE)
"""Line that Excel writes above the header to name the separator."""
EXTRA_CELLS = "extra cells"
"""Key of a CSV row for the cells without a column."""


def read_moments_file(path: str | os.PathLike[str]) -> list[tuple[int, Row]]:
    """Rows with their numbers in the file, counted from 1 (in CSV the header is row 1)."""
    return list(iterate_moments_file(path))


def iterate_moments_file(path: str | os.PathLike[str]) -> Iterator[tuple[int, Row]]:
    """The same rows one at a time; of JSON Lines only one is in memory."""
    path = Path(path)
    if not path.is_file():
        raise InputError("no such moments file", file=path, remedy="`source.moments` names it")
    kind = path.suffix.lower()
    if kind == ".jsonl":
        rows: Iterable[tuple[int, Row]] = enumerate(iterate_jsonl(path), start=1)
    elif kind == ".csv":
        rows = _read_csv(path)
    else:
        raise InputError(f"a moments file ends in .jsonl or .csv, not {path.suffix!r}", file=path)
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise InputError("holds no moments", file=path, remedy=f"give one row per moment: {', '.join(REQUIRED)}")


def _read_csv(path: Path) -> list[tuple[int, Row]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = path.read_bytes()[: error.start].count(b"\n") + 1
        raise InputError(
            f"not UTF-8 ({error.reason} at byte {error.start})",
            file=path,
            row=row,
            remedy="save the file as UTF-8; in a spreadsheet that is `CSV UTF-8`",
        ) from None
    if "\0" in text:
        raise InputError("holds NUL bytes; is this a CSV file?", file=path)
    records = numbered(text, path)
    header_row, header = next(records, (1, list[str]()))
    if len(header) <= 2 and SEPARATOR_LINE.match(header[0] if header else ""):
        header_row, header = next(records, (2, list[str]()))
    header = [name.strip() for name in header]
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        for mark, separators in SEPARATORS.items():
            if set(REQUIRED) <= {name.strip() for name in ",".join(header).split(mark)}:
                raise InputError(
                    f"its cells are separated by {separators}",
                    file=path,
                    row=header_row,
                    remedy="save it with commas between cells and points in numbers (0.5): with the spreadsheet's"
                    " language set to English, or by `Save as`, `CSV`, with a comma as field separator",
                )
        raise InputError(
            f"the header lacks {', '.join(map(repr, missing))}",
            file=path,
            row=header_row,
            remedy=f"the first row names the columns, separated by commas: {', '.join(REQUIRED)}, …",
        )
    if len(set(header)) < len(header):
        raise InputError("the header names a column twice", file=path, row=header_row)
    return [(number, _name_cells(header, row)) for number, row in records if row]


def _name_cells(header: list[str], cells: list[str]) -> dict[str, str | list[str]]:
    """The cells by column; an empty cell is a missing value."""
    named: dict[str, str | list[str]] = {name: cell for name, cell in zip(header, cells) if cell != ""}
    return named | {EXTRA_CELLS: cells[len(header) :]} if len(cells) > len(header) else named
