"""A collection of described movies: a CSV that names the files of each, and the rows that come of it."""

import csv
import hashlib
import json
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from verified.benchmark.mad.audio import read_track
from verified.benchmark.mad.collect import collect_movie
from verified.benchmark.mad.subtitles import read_subtitles, voice_activity
from verified.benchmark.mad.transcripts import read_transcript, sentences
from verified.benchmark.tiou import tiou
from verified.config.longform import Collection
from verified.errors import InputError
from verified.io.jsonl import read_json, write_json
from verified.runtime.progress import track

log = logging.getLogger("verified")
COLUMNS = ("movie", "track", "described", "transcript", "subtitles")
ALL = "all"
"""The part of a collection that holds every movie."""
OPTIONAL = "subtitles"
"""The column that may be empty: where nobody says when they speak, no sentence is dropped for it."""
SPLITS = ("train", "val", "test")


def read_manifest(path: str | os.PathLike) -> list[dict]:
    """Rows with paths resolved against the CSV's folder. Raises InputError with the row for what cannot be used."""
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason})", file=path, remedy="save it as UTF-8") from None
    table = csv.DictReader(lines)
    missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
    if missing:
        raise InputError(
            f"missing column {', '.join(missing)}",
            file=path,
            row=1,
            remedy=f"needed are {', '.join(COLUMNS)}, and if you like split",
        )
    rows: dict[str, dict] = {}
    for number, row in enumerate(table, start=2):
        if empty := [name for name in COLUMNS if name != OPTIONAL and not (row[name] or "").strip()]:
            raise InputError(f"{empty[0]} is empty", file=path, row=number)
        if row["movie"] in rows:
            raise InputError(f"movie {row['movie']!r} occurs twice", file=path, row=number)
        split = (row.get("split") or "").strip() or "train"
        if split not in SPLITS:
            raise InputError(f"split {split!r} is none of {', '.join(SPLITS)}", file=path, row=number)
        paths = {name: (row[name] or "").strip() for name in COLUMNS[1:]}
        files = {name: path.parent / given if given else None for name, given in paths.items()}
        rows[row["movie"]] = {"movie": row["movie"].strip(), "split": split, **files}
    if not rows:
        raise InputError("names no movie", file=path)
    return list(rows.values())


def find_row(manifest: str | os.PathLike, name: str) -> dict:
    """The row of a manifest by its `row_name`. Raises InputError where it has none."""
    for row in read_manifest(manifest):
        if row_name(row) == name:
            return row
    raise InputError(f"no movie {name}", file=manifest, remedy="the manifest was changed; begin again")


def collect_part(manifest: Path, part: str, settings: Collection) -> dict:
    """``rows`` {split: rows} and ``reports`` of one row of a manifest by its `row_name`, or of `ALL`."""
    rows, reports = collect(read_manifest(manifest) if part == ALL else [find_row(manifest, part)], settings)
    return {"rows": rows, "reports": reports}


def join_parts(parts: Iterable[dict]) -> tuple[dict[str, list[dict]], list[dict]]:
    """What `collect` returns, of all parts."""
    rows: dict[str, list[dict]] = {}
    reports: list[dict] = []
    for part in parts:
        reports += part["reports"]
        for split, split_rows in part["rows"].items():
            rows.setdefault(split, []).extend(split_rows)
    return rows, reports


def collect(
    manifest: Iterable[dict], settings: Collection, kept: Path | None = None
) -> tuple[dict[str, list[dict]], list[dict]]:
    """({split: rows}, a report per movie), both in the manifest's order.

    A movie with a file that cannot be read, or whose tracks do not align, gives no row: its report has the reason.
    kept: a folder in which every movie's result stays, and from which it is taken while its files and the settings are
    the same.
    """
    movies = list(manifest)
    rows: dict[str, list[dict]] = {movie["split"]: [] for movie in movies}
    reports = []
    for movie in track(movies, "collect", len(movies), "movies"):
        place = None if kept is None else kept / f"{_part_name(movie, settings)}.json"
        if place is not None and place.is_file():
            part = read_json(place)
        else:
            collected, report = _collect_one(movie, settings)
            part = {"rows": collected, "report": report}
            if place is not None:
                write_json(place, part)
        rows[movie["split"]] += part["rows"]
        reports.append(part["report"])
        if part["report"]["reason"]:
            log.warning("%s is left out: %s", movie["movie"], part["report"]["reason"])
    return rows, reports


def row_name(movie: dict) -> str:
    """A name for a row of a manifest that changes with what it says."""
    facts = [movie["movie"], movie["split"], *(str(movie[name]) for name in COLUMNS[1:])]
    return _digest(facts)


def movie_files(movie: dict) -> list[Path]:
    """Those of a movie's files that are there."""
    return [movie[name] for name in COLUMNS[1:] if movie[name] is not None and movie[name].is_file()]


def _part_name(movie: dict, settings: Collection) -> str:
    """A name for a movie's result that changes with its row, the settings, and size or time of a file."""
    known = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in movie_files(movie)]
    return _digest([row_name(movie), known, settings.model_dump(mode="json")])


def _digest(facts: list) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _collect_one(movie: dict, settings: Collection) -> tuple[list[dict], dict]:
    try:
        tracks = read_track(movie["track"], settings.rate), read_track(movie["described"], settings.rate)
        spoken = sentences(read_transcript(movie["transcript"]), settings.pause_seconds)
        voices = voice_activity(read_subtitles(movie[OPTIONAL])) if movie[OPTIONAL] else []
    except InputError as error:
        counts = dict.fromkeys(("spoken", "dialogue", "outside", "kept"), 0)
        facts = {"movie": movie["movie"], "duration": None, "delay": None, "reason": str(error), "subtitles": None}
        return [], facts | {"delays": [], "peaks": []} | counts
    rows, report = collect_movie(
        movie["movie"],
        tracks,
        settings.rate,
        spoken,
        voices,
        movie["split"],
        window_seconds=settings.window_seconds,
        most_seconds=settings.most_seconds,
    )
    return rows, report | {"subtitles": movie[OPTIONAL] is not None}


def summarise_reports(reports: Sequence[dict]) -> dict:
    """How many ``movies`` there are, how many were ``collected``, ``without_subtitles`` among those, and the
    ``left_out`` {movie: reason}."""
    collected = [report for report in reports if not report["reason"]]
    return {
        "movies": len(reports),
        "collected": len(collected),
        "without_subtitles": sum(not report["subtitles"] for report in collected),
        "left_out": {report["movie"]: report["reason"] for report in reports if report["reason"]},
    }


def against_truth(rows: list[dict], reports: list[dict], truth: dict) -> dict:
    """How a collection of the demo compares with what was planted.

    ``delay_error``: largest error of an accepted delay in seconds; ``refused_rightly`` and ``accepted_rightly`` count
    movies. A row is ``right`` if an event of its movie has its sentence and an IoU above 0.5 with it; ``missed`` are
    events of accepted movies that no voice speaks over and no row is right about.
    """

    accepted = {report["movie"]: report for report in reports if report["delay"] is not None}
    errors = [abs(report["delay"] - truth[movie]["delay"]) for movie, report in accepted.items()]
    right_ids: set[str] = set()
    right = 0
    for row in rows:
        for event in truth[row["movie"]]["events"]:
            overlap = tiou(row["start"], row["end"], event["start"], event["end"])
            if event["sentence"] == row["sentence"] and overlap > 0.5:
                right += 1
                right_ids.add(event["id"])
                break
    wanted = {
        event["id"]
        for movie in accepted
        for event in truth[movie]["events"]
        if event["id"] not in truth[movie]["spoken_over"]
    }
    return {
        "movies": len(reports),
        "accepted_rightly": sum(not truth[movie]["other_cut"] for movie in accepted),
        "refused_rightly": sum(truth[report["movie"]]["other_cut"] for report in reports if report["delay"] is None),
        "delay_error": max(errors, default=None),
        "rows": len(rows),
        "right": right,
        "wanted": len(wanted),
        "missed": len(wanted - right_ids),
    }
