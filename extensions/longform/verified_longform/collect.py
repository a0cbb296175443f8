"""Grounded sentences from a movie's track, its described track, a transcript and subtitles (section 3.1)."""

import numpy as np

from verified_longform.alignment import Alignment, align_tracks
from verified_longform.transcripts import Sentence


def described_sentences(
    spoken: list[Sentence], delay: float, voices: list[tuple[float, float]], duration: float
) -> tuple[list[Sentence], dict[str, int]]:
    """Sentences of the description on the movie's time, and counts by what became of each.

    Times are moved by −delay. Removed are sentences that overlap a voice (any overlap; touching ends do not) and those
    outside the movie, of `duration` seconds; one over the movie's edge is cut to it. Counts: ``spoken``, ``dialogue``,
    ``outside``, ``kept``.
    """
    inside = []
    counts = {"spoken": len(spoken), "dialogue": 0, "outside": 0}
    starts = np.array([start for start, _ in voices])
    ends = np.array([end for _, end in voices])
    for sentence in spoken:
        start, end = max(0.0, sentence.start - delay), min(duration, sentence.end - delay)
        if end <= start:
            counts["outside"] += 1
        elif len(voices) and ((starts < end) & (ends > start)).any():
            counts["dialogue"] += 1
        else:
            inside.append(Sentence(sentence.text, start, end))
    return inside, counts | {"kept": len(inside)}


def collect_movie(
    movie: str,
    tracks: tuple[np.ndarray, np.ndarray],
    rate: int,
    spoken: list[Sentence],
    voices: list[tuple[float, float]],
    split: str,
    window_seconds: float,
    most_seconds: float,
) -> tuple[list[dict], dict]:
    """Rows of one movie (see `annotations`) and a report on it; a movie whose tracks do not align gives no row.

    tracks: the movie's and the described one, [samples] each, `rate` a second. The last two are those of
    `align_tracks`.
    """
    movie_track, described = tracks
    duration = len(movie_track) / rate
    located: Alignment = align_tracks(movie_track, described, rate, window_seconds, most_seconds)
    report = {
        "movie": movie,
        "duration": round(duration, 6),
        "delay": located.delay,
        "reason": located.reason,
        "delays": [None if delay != delay else round(delay, 6) for delay in located.delays],
        "peaks": [None if peak != peak else round(peak, 6) for peak in located.peaks],
    }
    if located.delay is None:
        return [], report | {"spoken": len(spoken), "dialogue": 0, "outside": 0, "kept": 0}
    sentences, counts = described_sentences(spoken, located.delay, voices, duration)
    rows = [
        {
            "id": f"{movie}-{number:05d}",
            "movie": movie,
            "sentence": sentence.text,
            "duration": round(duration, 3),
            "start": round(sentence.start, 3),
            "end": round(sentence.end, 3),
            "split": split,
        }
        for number, sentence in enumerate(sentences)
    ]
    return rows, report | counts
