"""Items, rejections and counts from the configured sources, and the videos available for them."""

from collections.abc import Iterable, Mapping

from verified.benchmark.rextime.filters import CaptionedVideo, Query, count, filter_captions, filter_queries
from verified.benchmark.rextime.rows import Question
from verified.benchmark.rextime.sources import captions_of_corpus, queries_of_corpus, read_captions, read_queries
from verified.benchmark.submissions import list_some
from verified.config.rextime import Rextime, RextimeSource
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.jsonl import read_jsonl
from verified.io.video import VideoError, probe


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
            accepted, rejected = filter_queries(queries, section.queries, name)
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
    _check_unique(items)
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


def _check_unique(items: list[dict]) -> None:
    seen = set()
    for item in items:
        if item["item"] in seen:
            raise InputError(f"item {item['item']} comes twice", remedy="give each query of a source an id of its own")
        seen.add(item["item"])


def find_videos(items: list[dict], section: Rextime, corpora: Mapping[str, str]) -> tuple[list[dict], list[dict]]:
    """(rows of the items' videos in the form of videos.jsonl, videos that cannot be used with `reason`).

    Videos of a data set come from its corpus; those of a folder are decoded once and described. A source without videos
    has none of either.
    """
    rows: dict[str, dict] = {}
    missing: dict[str, dict] = {}
    for name, source in sorted(section.sources.items()):
        wanted = sorted({item["video"] for item in items if item["source"] == name} - rows.keys())
        if source.dataset:
            known = {row["video"]: row for row in read_jsonl(f"{corpora[source.dataset]}/videos.jsonl")}
            rows |= {video: known[video] for video in wanted}
        elif source.videos:
            found, absent = probe_videos(wanted, source.videos)
            rows |= {row["video"]: row for row in found}
            missing |= {row["video"]: row for row in absent}
    return [rows[video] for video in sorted(rows)], [missing[video] for video in sorted(missing.keys() - rows.keys())]


def probe_videos(wanted: Iterable[str], folder: str) -> tuple[list[dict], list[dict]]:
    """(rows of these videos of a folder in the form of videos.jsonl, those that cannot be used with `reason`)."""
    paths, rows, missing = VideoFolder(folder).paths, [], []
    for video in sorted(wanted):
        if video not in paths:
            missing.append({"video": video, "reason": "not-in-folder", "folder": folder})
            continue
        try:
            rows.append({"video": video, "path": str(paths[video]), **probe(paths[video])})
        except VideoError as error:
            missing.append({"video": video, "reason": error.reason, "detail": error.detail})
    return rows, missing


def asked_rows(questions: Iterable[Question]) -> list[dict]:
    """Given questions in the form of generated ones; ``options`` None where the file has none.

    Raises InputError where some have options and others do not.
    """
    rows = [
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
    lacking = [row["qid"] for row in rows if row["options"] is None]
    if 0 < len(lacking) < len(rows):
        message = f"{len(lacking)} of {len(rows)} questions have no options, for instance {list_some(lacking)}"
        raise InputError(message, remedy="give all of them options, or split the file")
    return rows
