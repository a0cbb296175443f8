"""The manifest of a collection of described movies, a CSV with the files of each, and counts of its results."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from os.path import isfile
from pathlib import Path

from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.text_tables import read_csv

COLUMNS = ("movie", "track", "described", "transcript", "subtitles")
ALL = "all"
"""The part of a collection that holds every movie."""
OPTIONAL = {"transcript": "described", "subtitles": "track"}
"""Columns that may be empty, and the sound that they transcribe: a file with the same name next to the sound replaces
them.
"""
DEFAULT_SUFFIXES = (".json", ".srt", ".vtt")
"""Suffixes of such files, in order of precedence."""
SPLITS = ("train", "val", "test")


def read_manifest(path: str | os.PathLike) -> list[dict]:
    """Rows with paths resolved against the CSV's folder. Raises InputError with the row for an unusable value."""
    path = Path(path)
    rows: dict[str, dict] = {}
    for number, row in read_csv(path, COLUMNS, "if you like, split"):
        if empty := [name for name in COLUMNS if name not in OPTIONAL and not row[name].strip()]:
            raise InputError(f"{empty[0]} is empty", file=path, row=number)
        if sign := hidden(row["movie"]):
            raise InputError(f"the movie's name holds the control character {sign}", file=path, row=number)
        if row["movie"] in rows:
            raise InputError(f"movie {row['movie']!r} occurs twice", file=path, row=number)
        split = row.get("split", "").strip() or "train"
        if split not in SPLITS:
            raise InputError(f"split {split!r} is none of {', '.join(SPLITS)}", file=path, row=number)
        paths = {name: row[name].strip() for name in COLUMNS[1:]}
        files = _with_default_files({name: path.parent / file if file else None for name, file in paths.items()})
        rows[row["movie"]] = {"movie": row["movie"].strip(), "split": split, **files}
    if not rows:
        raise InputError("names no movie", file=path)
    return list(rows.values())


def _with_default_files(files: dict[str, Path | None]) -> dict[str, Path | None]:
    for column, sound in OPTIONAL.items():
        if files[column] is None and (track := files[sound]) is not None:
            candidates = (track.with_suffix(ending) for ending in DEFAULT_SUFFIXES)
            # Both tracks may share a name: the transcript of one is not also the subtitles of the other.
            files[column] = next((path for path in candidates if path not in files.values() and isfile(path)), None)
    return files


def find_row(manifest: str | os.PathLike, name: str) -> dict:
    """The row of a manifest by its `row_name`. Raises InputError without one."""
    for row in read_manifest(manifest):
        if row_name(row) == name:
            return row
    raise InputError(f"no movie {name}", file=manifest, remedy="the manifest was changed; begin again")


def join_parts(parts: Iterable[dict]) -> tuple[dict[str, list[dict]], list[dict]]:
    """Result of `collect`, merged over all parts."""
    rows: dict[str, list[dict]] = {}
    reports: list[dict] = []
    for part in parts:
        reports += part["reports"]
        for split, split_rows in part["rows"].items():
            rows.setdefault(split, []).extend(split_rows)
    return rows, reports


def row_name(movie: dict) -> str:
    """A name for a row of a manifest that changes with its content."""
    facts = [movie["movie"], movie["split"], *(str(movie[name]) for name in COLUMNS[1:])]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def movie_files(movie: dict) -> list[Path]:
    """Files of a movie that exist."""
    return [movie[name] for name in COLUMNS[1:] if movie[name] is not None and isfile(movie[name])]


def absent_files(movie: dict) -> list[Path]:
    """Named files that do not exist."""
    return [movie[name] for name in COLUMNS[1:] if movie[name] is not None and not isfile(movie[name])]


def summarise_reports(reports: Sequence[dict]) -> dict:
    """Counts: ``movies``, those ``collected``, ``without_subtitles`` and ``transcribed`` by the role speech among
    those, the ``left_out`` {movie: reason}, and of the sentences of those collected the numbers of ``spoken``, over
    ``dialogue``, ``outside`` the movie, and ``kept``.
    """
    collected = [report for report in reports if not report["reason"]]
    return {
        "movies": len(reports),
        "collected": len(collected),
        "without_subtitles": sum(not report["subtitles"] for report in collected),
        "transcribed": sum(bool(report.get("transcribed")) for report in collected),
        "left_out": {report["movie"]: report["reason"] for report in reports if report["reason"]},
        **{name: sum(report[name] for report in collected) for name in ("spoken", "dialogue", "outside", "kept")},
    }
