"""Read the two kinds of sources: captions by video (ActivityNet Captions form) and queries (QVHighlights form).

The workflow's own corpus serves as either: its moments are the captions of a video, or queries with a window each.
"""

import os
from collections.abc import Iterable, Iterator, Mapping

from verified.benchmark.submissions import list_some, rows_by_id
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.jsonl import finite, is_span, read_json, read_jsonl
from verified.io.video import VideoError, probe
from verified_rextime.config import Rextime, RextimeSource
from verified_rextime.filters import CaptionedVideo, Event, Query, count, filter_captions, filter_queries
from verified_rextime.rows import Question, question_problem


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

    Raises InputError for a row with invalid values.
    """
    for number, qid, row in rows_by_id(path, "qid", ("query", "vid", "duration", "relevant_windows")):
        if problem := question_problem(row, scored=False):
            raise InputError(problem, file=path, row=number)
        spans = tuple((float(start), float(end)) for start, end in row["relevant_windows"] or ())
        yield Query(qid, row["vid"], float(row["duration"]), row["query"].strip(), spans)


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


def read_sources(section: Rextime, corpora: Mapping[str, str]) -> tuple[list[dict], list[dict], dict]:
    """(items with their ``split``, rejections with their ``source``, counts by source).

    `corpora` is the folder of the corpus of each data set that is a source.
    """
    items, rejections, counts = [], [], {}
    for name, source in sorted(section.sources.items()):
        if source.form == "captions":
            material = list(_captions(source, corpora))
            accepted, rejected = filter_captions(material, section.captions, name)
            tallies = {
                "videos": count("video", len(material), rejected),
                "events": count("event", sum(len(video.events) for video in material), rejected),
            }
        else:
            queries = list(_queries(source, corpora))
            accepted, rejected = filter_queries(queries, name)
            tallies = {
                "queries": count("query", len(queries), rejected),
                "videos": {
                    "given": len({q.video for q in queries}),
                    "kept": len({item["video"] for item in accepted}),
                },
            }
        items += [item | {"split": source.split} for item in accepted]
        rejections += [{"source": name, **rejection.row()} for rejection in rejected]
        counts[name] = {"form": source.form, "split": source.split, **tallies}
    return items, rejections, counts


def _captions(source: RextimeSource, corpora: Mapping[str, str]) -> Iterable[CaptionedVideo]:
    if source.annotations:
        return read_captions(source.annotations)
    return captions_of_corpus(*_corpus(source, corpora))


def _queries(source: RextimeSource, corpora: Mapping[str, str]) -> Iterable[Query]:
    if source.annotations:
        return read_queries(source.annotations)
    return queries_of_corpus(*_corpus(source, corpora))


def _corpus(source: RextimeSource, corpora: Mapping[str, str]) -> tuple[list[dict], list[dict]]:
    """Moments of the source's split, and videos, of the data set that it names."""
    folder = corpora[str(source.dataset)]
    moments = [row for row in read_jsonl(f"{folder}/moments.jsonl") if row["split"] == source.split]
    if not moments:
        raise InputError(
            f"the data set {source.dataset} has no moments in the split {source.split!r}",
            remedy="give the source one of the data set's splits",
        )
    return moments, read_jsonl(f"{folder}/videos.jsonl")


def find_videos(items: list[dict], section: Rextime, corpora: Mapping[str, str]) -> tuple[list[dict], list[dict]]:
    """(rows of the items' videos in the form of videos.jsonl, unusable videos with `reason`).

    Videos of a data set come from its corpus; those of a folder are decoded once and described. A source without videos
    gives two empty lists.
    """
    rows: dict[str, dict] = {}
    missing: dict[str, dict] = {}
    for name, source in sorted(section.sources.items()):
        names = sorted({item["video"] for item in items if item["source"] == name} - rows.keys())
        if source.dataset:
            corpus_rows = {row["video"]: row for row in read_jsonl(f"{corpora[source.dataset]}/videos.jsonl")}
            rows |= {video: corpus_rows[video] for video in names}
        elif source.videos:
            probes, absent = probe_videos(names, source.videos)
            rows |= {row["video"]: row for row in probes}
            missing |= {row["video"]: row for row in absent}
    return [rows[video] for video in sorted(rows)], [missing[video] for video in sorted(missing.keys() - rows.keys())]


def probe_videos(videos: Iterable[str], folder: str) -> tuple[list[dict], list[dict]]:
    """(rows of these videos of a folder in the form of videos.jsonl, those that cannot be used with `reason`)."""
    paths, rows, missing = VideoFolder(folder).paths, [], []
    for video in sorted(videos):
        if video not in paths:
            missing.append({"video": video, "reason": "not-in-folder", "folder": folder})
            continue
        try:
            rows.append({"video": video, "path": str(paths[video]), **probe(paths[video])})
        except VideoError as error:
            missing.append({"video": video, "reason": error.reason, "detail": error.detail})
    return rows, missing


def question_rows(questions: Iterable[Question]) -> list[dict]:
    """`given_rows`. Raises InputError if some have options and others do not."""
    rows = given_rows(questions)
    lacking = [row["qid"] for row in rows if row["options"] is None]
    if 0 < len(lacking) < len(rows):
        message = f"{len(lacking)} of {len(rows)} questions have no options, for instance {list_some(lacking)}"
        raise InputError(message, remedy="give all of them options, or split the file")
    return rows


def given_rows(questions: Iterable[Question]) -> list[dict]:
    """Given questions in the form of generated ones; ``options`` None if the file has none."""
    return [
        {
            "qid": question.qid,
            "query": question.query,
            "vid": question.video,
            "duration": question.duration,
            "relevant_windows": [list(window) for window in question.windows],
            "options": list(question.options) if question.options else None,
        }
        for question in questions
    ]
