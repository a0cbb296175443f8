"""A collection of described movies: a CSV that names the files of each, and the rows that come of it."""

import csv
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from verified.benchmark.mad.audio import read_track
from verified.benchmark.mad.collect import collect_movie
from verified.benchmark.mad.subtitles import read_srt, voice_activity
from verified.benchmark.mad.transcripts import read_transcript, sentences
from verified.benchmark.tiou import tiou
from verified.config.longform import Collection
from verified.errors import InputError
from verified.runtime.progress import track

log = logging.getLogger("verified")
COLUMNS = ("movie", "track", "described", "transcript", "subtitles")
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
        if empty := [name for name in COLUMNS if not (row[name] or "").strip()]:
            raise InputError(f"{empty[0]} is empty", file=path, row=number)
        if row["movie"] in rows:
            raise InputError(f"movie {row['movie']!r} occurs twice", file=path, row=number)
        split = (row.get("split") or "").strip() or "train"
        if split not in SPLITS:
            raise InputError(f"split {split!r} is none of {', '.join(SPLITS)}", file=path, row=number)
        files = {name: path.parent / row[name].strip() for name in COLUMNS[1:]}
        rows[row["movie"]] = {"movie": row["movie"].strip(), "split": split, **files}
    if not rows:
        raise InputError("names no movie", file=path)
    return list(rows.values())


def collect(manifest: Iterable[dict], settings: Collection) -> tuple[dict[str, list[dict]], list[dict]]:
    """({split: rows}, a report per movie).

    Raises InputError for a file that cannot be read; a movie whose tracks do not align is reported and gives no row.
    """
    movies = list(manifest)
    rows: dict[str, list[dict]] = {movie["split"]: [] for movie in movies}
    reports = []
    for movie in track(movies, "collect", len(movies), "movies"):
        tracks = read_track(movie["track"], settings.rate), read_track(movie["described"], settings.rate)
        spoken = sentences(read_transcript(movie["transcript"]), settings.pause_seconds)
        voices = voice_activity(read_srt(movie["subtitles"]))
        collected, report = collect_movie(
            movie["movie"],
            tracks,
            settings.rate,
            spoken,
            voices,
            movie["split"],
            window_seconds=settings.window_seconds,
            most_seconds=settings.most_seconds,
        )
        rows[movie["split"]] += collected
        reports.append(report)
        if report["reason"]:
            log.warning("%s is refused: %s", movie["movie"], report["reason"])
    return rows, reports


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
