"""Rows of described movies: each row of a manifest read, aligned and collected, or omitted with the reason.

As of section 3.1 of the MAD paper.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from verified.benchmark.tiou import tiou
from verified.errors import InputError
from verified.io.sound import read_part, read_track
from verified.io.subtitles import Cue, spoken
from verified.runtime.progress import track
from verified_longform.alignment import align_tracks
from verified_longform.config import Collection
from verified_longform.manifest import ALL, OPTIONAL, absent_files, find_row, read_manifest
from verified_longform.transcripts import Sentence, Word, read_transcript, read_voices, sentences, voice_activity


def described_sentences(
    sentences: list[Sentence], delay: float, voices: list[tuple[float, float]], duration: float
) -> tuple[list[Sentence], dict[str, int]]:
    """Sentences of the description on the movie's time, and counts by outcome.

    Times are moved by −delay. Removed are sentences that overlap a voice (any overlap; touching ends do not) and those
    outside the movie, of `duration` seconds; one over the movie's edge is cut to it. Counts: ``spoken``, ``dialogue``,
    ``outside``, ``kept``.
    """
    inside = []
    counts = {"spoken": len(sentences), "dialogue": 0, "outside": 0}
    starts = np.array([start for start, _ in voices])
    ends = np.array([end for _, end in voices])
    for sentence in sentences:
        start, end = max(0.0, sentence.start - delay), min(duration, sentence.end - delay)
        if end <= start:
            counts["outside"] += 1
        elif len(voices) and ((starts < end) & (ends > start)).any():
            counts["dialogue"] += 1
        else:
            inside.append(Sentence(sentence.text, start, end))
    return inside, counts | {"kept": len(inside)}


log = logging.getLogger("verified")


Listener = Callable[[Path], list[tuple[float, float, str]]]
"""Transcribes a file: (start, end, text) in seconds, ascending. Raises InputError if a part of it has no answer: the
movie then remains to be collected, and is not excluded."""


def collect_part(manifest: Path, part: str, settings: Collection, listen: Listener | None = None) -> dict:
    """``rows`` {split: rows} and ``reports`` of one row of a manifest by its `row_name`, or of `ALL`, in its order.

    A movie with an unreadable file, or whose tracks do not align, gives no row: its report has the reason. listen:
    transcribes tracks without transcript or subtitles; None: a movie without transcript is omitted, and one without
    subtitles loses no sentence to dialogue.
    """
    movies = read_manifest(manifest) if part == ALL else [find_row(manifest, part)]
    rows: dict[str, list[dict]] = {movie["split"]: [] for movie in movies}
    reports = []
    for movie in track(movies, "collect", len(movies), "movies"):
        collected, report = _collect_one(movie, settings, listen)
        rows[movie["split"]] += collected
        reports.append(report)
        if report["reason"]:
            log.warning("%s is left out: %s", movie["movie"], report["reason"])
    return {"rows": rows, "reports": reports}


def unreadable(movie: dict, transcribes: bool) -> str:
    """Why a row of a manifest will give no sentence, judged by its files without their sound; "" without a reason.

    transcribes: whether the role `speech` transcribes tracks without a transcript.
    """
    try:
        _written(movie, transcribes)
        for sound in OPTIONAL.values():
            read_part(movie[sound], 0.0, 0.1, 4000)
    except InputError as error:
        return str(error)
    return ""


def _written(movie: dict, transcribes: bool) -> tuple[list[Word], list[Cue]]:
    """Its transcript and subtitles. Raises InputError for the first file that cannot be used."""
    if absent := absent_files(movie):
        raise InputError("no such file", file=absent[0])
    if movie["transcript"] is None and not transcribes:
        remedy = "name one, put one next to the file, or set generation.speech in a workflow, whose role writes it"
        raise InputError("no transcript of the described track", file=movie["described"], remedy=remedy)
    words = read_transcript(movie["transcript"]) if movie["transcript"] else []
    return words, read_voices(movie["subtitles"]) if movie["subtitles"] else []


def _collect_one(movie: dict, settings: Collection, listen: Listener | None) -> tuple[list[dict], dict]:
    """Rows of one movie (see `annotations`) and a report on it; a movie whose tracks do not align gives no row."""
    columns = {column for column in OPTIONAL if movie[column]}
    try:
        words, cues = _written(movie, listen is not None)
        tracks = read_track(movie["track"], settings.rate), read_track(movie["described"], settings.rate)
    except InputError as error:
        counts = dict.fromkeys(("spoken", "dialogue", "outside", "kept"), 0)
        facts = {"movie": movie["movie"], "duration": None, "delay": None, "reason": str(error), "subtitles": None}
        return [], facts | {"delays": [], "peaks": []} | counts
    if listen is not None:
        if "transcript" not in columns:
            words = [Word(text, start, end, True) for start, end, text in listen(movie["described"])]
        if "subtitles" not in columns:
            cues = [spoken(*segment) for segment in listen(movie["track"])]
    duration, transcript = len(tracks[0]) / settings.rate, sentences(words, settings.pause_seconds)
    located = align_tracks(*tracks, settings.rate, settings.window_seconds, settings.most_seconds)
    kept, counts = list[Sentence](), {"spoken": len(transcript), "dialogue": 0, "outside": 0, "kept": 0}
    if located.delay is not None:
        kept, counts = described_sentences(transcript, located.delay, voice_activity(cues), duration)
    rows = [
        {
            "id": f"{movie['movie']}-{number:05d}",
            "movie": movie["movie"],
            "sentence": sentence.text,
            "duration": round(duration, 3),
            "start": round(sentence.start, 3),
            "end": round(sentence.end, 3),
            "split": movie["split"],
        }
        for number, sentence in enumerate(kept)
    ]
    report = {
        "movie": movie["movie"],
        "duration": round(duration, 6),
        "delay": located.delay,
        "reason": located.reason,
        "delays": [None if delay != delay else round(delay, 6) for delay in located.delays],
        "peaks": [None if peak != peak else round(peak, 6) for peak in located.peaks],
        **counts,
        "subtitles": "subtitles" in columns or listen is not None,
        "transcribed": sorted(OPTIONAL.keys() - columns) if listen else [],
    }
    return rows, report


def against_truth(rows: list[dict], reports: list[dict], truth: dict) -> dict:
    """Compare a collection of the demo with its ground truth.

    ``delay_error``: largest error of an accepted delay in seconds; ``refused_rightly`` and ``accepted_rightly`` count
    movies. A row is ``right`` if an event of its movie has its sentence and an IoU above 0.5 with it; ``missed`` are
    events of accepted movies without a voice over them and without a right row.
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
    true_ids = {
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
        "wanted": len(true_ids),
        "missed": len(true_ids - right_ids),
    }
