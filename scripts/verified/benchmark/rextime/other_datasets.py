"""Read the questions of Ego4D-NLQ and NExT-GQA in their published forms, to count those across time (C.6)."""

import os
from collections.abc import Iterator

from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl, read_json
from verified.io.text_tables import read_csv


def read_ego4d_nlq(path: str | os.PathLike) -> list[dict]:
    """``id, text, type, answer_span`` of every query.

    The file nests ``videos``, ``clips``, ``annotations`` and ``language_queries``. Queries without a text (redacted
    ones) are omitted. Raises InputError for a file of another form.
    """
    values = read_json(path)
    if not isinstance(values, dict) or not isinstance(values.get("videos"), list):
        raise InputError("not annotations of Ego4D NLQ: no list of videos", file=path)
    try:
        return list(_nlq_queries(values["videos"]))
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            "not annotations of Ego4D NLQ: a video lacks its clips, annotations or queries", file=path
        ) from None


def _nlq_queries(videos: list[dict]) -> Iterator[dict]:
    for video in videos:
        for clip in video["clips"]:
            for annotation in clip["annotations"]:
                for number, query in enumerate(annotation["language_queries"]):
                    if not query.get("query"):
                        continue
                    span = [query.get("clip_start_sec"), query.get("clip_end_sec")]
                    yield {
                        "id": f"{annotation.get('annotation_uid', clip.get('clip_uid', ''))}/{number}",
                        "text": query["query"],
                        "type": query.get("template") or "",
                        "answer_span": span if None not in span else None,
                    }


def read_next_gqa(path: str | os.PathLike) -> list[dict]:
    """``id, text, type`` of every row of a CSV with ``question``, ``type`` and, if there, ``video_id`` and ``qid``.

    Types are the published short ones (TN, TC, TP for temporal; CW, CH for causal). Raises InputError without them.
    """
    rows = [row for _, row in read_csv(path, ("question", "type"), "if they are there, video_id and qid")]
    if not rows:
        raise InputError("holds no questions", file=path)
    return [
        {"id": f"{row.get('video_id', '')}/{row.get('qid') or number}", "text": row["question"], "type": row["type"]}
        for number, row in enumerate(rows, start=1)
    ]


def add_spans(items: list[dict], path: str | os.PathLike) -> list[dict]:
    """The items with the ``question_span`` and ``answer_span`` of a JSON Lines file with the same ``id``."""
    spans = {row["id"]: row for row in iterate_jsonl(path, ("id", "question_span"))}
    unknown = sorted(spans.keys() - {item["id"] for item in items})
    if unknown:
        raise InputError(f"spans of {unknown[0]!r}, which is not in the other file", file=path)
    return [{**item, **{k: v for k, v in spans.get(item["id"], {}).items() if k.endswith("_span")}} for item in items]
