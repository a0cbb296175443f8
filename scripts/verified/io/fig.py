"""FIG JSON Lines: the released form of fine-grained annotations, one moment a line.

Keys and their order are those of the released files: ``video, time [start, end] in seconds, desc_id, duration in
seconds, cog_desc, fig_desc, fig_desc_score``; ours add ``fig_desc_type`` and ``lineage`` at the end. Collections that
have coarse captions only use the same form without the three ``fig_desc`` keys.
"""

import json
import logging
import os
import reprlib
from collections.abc import Iterable
from pathlib import Path

from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.files import atomic_path, checked_file
from verified.io.jsonl import Row, finite, is_span, iterate_jsonl

COG_KEYS = ("video", "time", "desc_id", "duration", "cog_desc")
FIG_KEYS = (*COG_KEYS, "fig_desc", "fig_desc_score")
TYPES = ("statics", "dynamics")
COARSE = "coarse"
"""Type of a fine caption that is the coarse one: no candidate was good enough (`annotations.otherwise`)."""

log = logging.getLogger("verified")


def read_fig(path: str | os.PathLike[str], keys: Iterable[str] = FIG_KEYS) -> list[Row]:
    """All rows of one file, checked: `keys` present, of the right types, finite, `desc_id` unique.

    A byte order mark and CRLF line ends are read and logged. Raises InputError with file, row, key and remedy.
    """
    path, keys = Path(path), tuple(keys)
    _refuse_other_documents(path)
    return checked_rows(iterate_jsonl(path, keys), path, keys)


def checked_rows(source: Iterable[Row], path: Path, keys: tuple[str, ...]) -> list[Row]:
    """The rows of a file, whose values of `keys` are checked as by `read_fig`."""
    rows: list[Row] = []
    first_row: dict[int, int] = {}
    for number, row in enumerate(source, start=1):
        for key in (*keys, "fig_desc_type") if "fig_desc_type" in row else keys:
            problem = value_problem(key, row[key])
            if key == "time" and not problem and row[key][1] < row[key][0]:
                problem = "must not end before it starts"
            if problem:
                raise InputError(
                    f"{key!r} {problem}, found {reprlib.repr(row[key])}",
                    file=path,
                    row=number,
                    remedy="correct the row, or leave it out",
                )
        if row["desc_id"] in first_row:
            raise InputError(
                f"'desc_id' {row['desc_id']} repeats that of row {first_row[row['desc_id']]}",
                file=path,
                row=number,
                remedy="give each row an id of its own",
            )
        first_row[row["desc_id"]] = number
        rows.append(row)
    return rows


def read_splits(paths: Iterable[str | os.PathLike[str]]) -> list[Row]:
    """Rows of several split files in the order given, each with its split (the file's name) under ``split``.

    A file without fine captions (its first row has no ``fig_desc``) is read with the coarse keys alone. Raises
    InputError, also for a `desc_id` that two splits share.
    """
    rows: list[Row] = []
    owner: dict[int, str] = {}
    nothing: Row = {}
    for path in map(Path, paths):
        first = next(iterate_jsonl(path), nothing)
        for row in read_fig(path, FIG_KEYS if "fig_desc" in first or not first else COG_KEYS):
            if row["desc_id"] in owner:
                raise InputError(
                    f"'desc_id' {row['desc_id']} is also used in {owner[row['desc_id']]}",
                    file=path,
                    remedy="ids must be unique over all splits",
                )
            owner[row["desc_id"]] = path.name
            rows.append({**row, "split": path.stem})
    return rows


def write_fig(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write rows in the form of the released files: ASCII with escapes, so that reading and writing keeps their
    bytes."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="ascii", newline="\n") as out:
        out.writelines(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _refuse_other_documents(path: Path) -> None:
    """Detect the usual accidents: a web page saved as data, a byte order mark, Windows line ends, UTF-16."""
    with checked_file(path).open("rb") as file:
        head = file.read(4096)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        raise InputError(
            "a web page, not JSON Lines", file=path, row=1, remedy="download the file itself, not its page"
        )
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("UTF-16, not UTF-8", file=path, row=1, remedy="save the file as UTF-8")
    if head.startswith(b"\xef\xbb\xbf"):
        log.warning("%s: the byte order mark is ignored", path)
    if b"\r\n" in head:
        log.warning("%s: CRLF line ends are read as LF", path)


def value_problem(key: str, value: object) -> str | None:
    """The problem with a value of a row's key, as the end of a sentence that begins with the key, or None."""
    if key in ("video", "cog_desc", "fig_desc"):
        if not isinstance(value, str) or not value.strip():
            return "must be a text that is not empty"
        return f"holds the control character {hidden(value)}" if hidden(value) else None
    if key == "desc_id":
        return (
            None if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "must be an integer ≥ 0"
        )
    if key == "time":
        return None if is_span(value) else "must be [start, end] in seconds"
    if key in ("duration", "fig_desc_score"):
        return None if finite(value) else "must be a finite number"
    if key == "fig_desc_type":
        return None if value in (*TYPES, COARSE) else f"must be one of {', '.join((*TYPES, COARSE))}"
    return None
