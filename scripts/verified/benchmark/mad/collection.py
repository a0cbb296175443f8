"""Rows of described movies: each row of a manifest read, aligned and collected, or left out with the reason."""

import logging
from collections.abc import Iterable
from pathlib import Path

from verified.benchmark.mad.collect import collect_movie
from verified.benchmark.mad.manifest import ALL, OPTIONAL, digest, find_row, movie_files, read_manifest, row_name
from verified.benchmark.mad.subtitles import read_subtitles, voice_activity
from verified.benchmark.mad.transcripts import read_transcript, sentences
from verified.benchmark.tiou import tiou
from verified.config.longform import Collection
from verified.errors import InputError
from verified.io.jsonl import read_json, write_json
from verified.io.sound import read_track
from verified.runtime.progress import track

log = logging.getLogger("verified")


def collect_part(manifest: Path, part: str, settings: Collection) -> dict:
    """``rows`` {split: rows} and ``reports`` of one row of a manifest by its `row_name`, or of `ALL`."""
    rows, reports = collect(read_manifest(manifest) if part == ALL else [find_row(manifest, part)], settings)
    return {"rows": rows, "reports": reports}


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


def _part_name(movie: dict, settings: Collection) -> str:
    """A name for a movie's result that changes with its row, the settings, and size or time of a file."""
    known = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in movie_files(movie)]
    return digest([row_name(movie), known, settings.model_dump(mode="json")])


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
