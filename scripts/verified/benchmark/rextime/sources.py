"""Read the two kinds of sources: captions by video (ActivityNet Captions form) and queries (QVHighlights form).

The workflow's own corpus serves as either: its moments are the captions of a video, or queries with a window each.
"""

import os
from collections.abc import Iterable, Iterator

from verified.benchmark.rextime.filters import CaptionedVideo, Event, Query
from verified.errors import InputError
from verified.io.jsonl import finite, is_span, iterate_jsonl, read_json


def read_captions(path: str | os.PathLike) -> Iterator[CaptionedVideo]:
    """Videos of a JSON file ``{video: {duration, timestamps: [[start, end], ...], sentences: [...]}}``, in its order.

    Raises InputError for a video whose entry lacks a part or has parts of different lengths.
    """
    values = read_json(path)
    if not isinstance(values, dict) or not values:
        raise InputError("not a mapping of videos", file=path, remedy="the file needs the ActivityNet Captions form")
    for video, entry in values.items():
        problem = _entry_problem(entry)
        if problem:
            raise InputError(
                f"video {video}: {problem}", file=path, remedy="the file needs the ActivityNet Captions form"
            )
        events = (
            Event(float(start), float(end), sentence.strip())
            for (start, end), sentence in zip(entry["timestamps"], entry["sentences"])
        )
        yield CaptionedVideo(video, float(entry["duration"]), tuple(events))


def _entry_problem(entry: object) -> str | None:
    if not isinstance(entry, dict) or not {"duration", "timestamps", "sentences"} <= entry.keys():
        return "needs duration, timestamps and sentences"
    if not finite(entry["duration"]) or entry["duration"] <= 0:
        return f"duration is {entry['duration']!r:.40}, not a positive number of seconds"
    spans, sentences = entry["timestamps"], entry["sentences"]
    if not isinstance(spans, list) or not isinstance(sentences, list) or len(spans) != len(sentences):
        return "timestamps and sentences must be lists of the same length"
    if not all(map(is_span, spans)):
        return "each timestamp must be [start, end] in seconds"
    if not all(isinstance(sentence, str) for sentence in sentences):
        return "each sentence must be a text"
    return None


def read_queries(path: str | os.PathLike) -> Iterator[Query]:
    """Queries of a JSON Lines file with ``qid, query, vid, duration, relevant_windows``, in its order.

    Raises InputError for a row with values that are none.
    """
    for number, row in enumerate(iterate_jsonl(path, ("qid", "query", "vid", "duration", "relevant_windows")), start=1):
        windows = row["relevant_windows"]
        if not isinstance(windows, list) or not all(map(is_span, windows)):
            raise InputError("'relevant_windows' must be a list of [start, end] in seconds", file=path, row=number)
        if not isinstance(row["query"], str) or not isinstance(row["vid"], str):
            raise InputError("'query' and 'vid' must be texts", file=path, row=number)
        if not finite(row["duration"]) or row["duration"] <= 0:
            raise InputError("'duration' must be a positive number of seconds", file=path, row=number)
        spans = tuple((float(start), float(end)) for start, end in windows)
        yield Query(str(row["qid"]), row["vid"], float(row["duration"]), row["query"].strip(), spans)


def captions_of_corpus(moments: Iterable[dict], videos: Iterable[dict]) -> Iterator[CaptionedVideo]:
    """The videos of a corpus with their moments as captioned segments, by video."""
    durations = {row["video"]: float(row["duration"]) for row in videos}
    events: dict[str, list[Event]] = {}
    for row in moments:
        events.setdefault(row["video"], []).append(Event(row["start"], row["end"], row["caption"].strip()))
    for video in sorted(events):
        yield CaptionedVideo(video, durations[video], tuple(events[video]))


def queries_of_corpus(moments: Iterable[dict], videos: Iterable[dict]) -> Iterator[Query]:
    """Each caption of a corpus as a query; a caption that several moments of a video share has as many windows."""
    durations = {row["video"]: float(row["duration"]) for row in videos}
    windows: dict[tuple[str, str], list[dict]] = {}
    for row in moments:
        windows.setdefault((row["video"], row["caption"].strip()), []).append(row)
    for (video, caption), rows in windows.items():
        spans = tuple((float(row["start"]), float(row["end"])) for row in rows)
        yield Query(str(rows[0]["desc_id"]), video, durations[video], caption, spans)
