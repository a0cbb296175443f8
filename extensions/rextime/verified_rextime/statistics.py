"""Figures about a benchmark of questions across time (supplement, sections C.3 and C.6)."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from verified.benchmark.tiou import tiou
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl, read_json
from verified.io.text_tables import read_csv
from verified_rextime.config import Prices
from verified_rextime.rows import read_questions

BEFORE_OR_AFTER = re.compile(r"\b(?:before|after)\b", re.I)


def certificate_lengths(
    questions: np.ndarray, answers: np.ndarray, form: Literal["union", "hull"] = "union"
) -> np.ndarray:
    """Seconds of video [n] that one must see to be sure of the answer, from both spans [n, 2] (s).

    The supplement follows EgoSchema without a formula; here it is the length of the union of the spans, or of the hull
    that reaches from the earlier start to the later end.
    """
    hull = np.maximum(questions[:, 1], answers[:, 1]) - np.minimum(questions[:, 0], answers[:, 0])
    if form == "hull":
        return hull
    gap = np.maximum(questions[:, 0], answers[:, 0]) - np.minimum(questions[:, 1], answers[:, 1])
    return hull - np.maximum(gap, 0)


def benchmark_statistics(rows: Iterable[Mapping]) -> dict:
    """Numbers by split and kind, mean lengths (s), certificate length and question–answer IoU of rows of questions.

    The last two are over the rows that have a question span, whose number is also given; None without any.
    """
    rows = list(rows)
    splits = {}
    for split in sorted({row["split"] for row in rows}):
        of_split = [row for row in rows if row["split"] == split]
        answers = np.array([row["relevant_windows"][0] for row in of_split], np.float64)
        durations = np.array([row["duration"] for row in of_split])
        spanned = [row for row in of_split if row["question_windows"]]
        spans = np.array([row["question_windows"][0] for row in spanned], np.float64).reshape(-1, 2)
        targets = np.array([row["relevant_windows"][0] for row in spanned], np.float64).reshape(-1, 2)
        splits[split] = {
            "questions": len(of_split),
            "videos": len({row["vid"] for row in of_split}),
            "kinds": dict(sorted(Counter(row["kind"] for row in of_split).items())),
            "directions": dict(sorted(Counter(row["direction"] for row in of_split).items())),
            "duration": float(durations.mean()),
            "answer_length": float((answers[:, 1] - answers[:, 0]).mean()),
            "answer_share": float(((answers[:, 1] - answers[:, 0]) / durations).mean()),
            "with_question_span": len(spanned),
            "certificate_length": _mean(certificate_lengths(spans, targets)),
            "certificate_hull": _mean(certificate_lengths(spans, targets, "hull")),
            "question_answer_iou": _mean(tiou(*spans.T, *targets.T)),
            "letters": dict(sorted(Counter(row["ans"] for row in of_split if row["ans"]).items())),
        }
    return splits


def released_statistics(files: Mapping[str, str]) -> dict:
    """The same of given files of questions, by name; they name no question spans, and not all name kinds."""
    statistics = {}
    for name, path in files.items():
        rows = [
            {
                "split": name,
                "vid": row.video,
                "kind": row.kind or "",
                "direction": "",
                "duration": row.duration,
                "ans": row.answer,
                "relevant_windows": row.windows,
                "question_windows": (),
            }
            for row in read_questions(path)
        ]
        statistics |= benchmark_statistics(rows)
        has_kinds = all(row["kind"] for row in rows)
        statistics[name] |= {"kinds": statistics[name]["kinds"] if has_kinds else None, "directions": None}
    return statistics


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def count_across_time(items: Iterable[Mapping], across: Literal["before_after", "temporal_type"]) -> dict:
    """Number of items of another data set that reason across time (section C.6).

    Items have ``text``, ``type`` and, if known, ``question_span`` and ``answer_span`` (s). With `before_after` a text
    counts if it contains one of the words (Ego4D-NLQ), with `temporal_type` an item if its type is temporal (NExT-GQA).
    Items whose one span is entirely in the other are omitted; the paper leaves open which one.
    """
    counts = Counter()
    for item in items:
        counts["items"] += 1
        if across == "before_after":
            asks = bool(BEFORE_OR_AFTER.search(item["text"]))
        else:
            asks = str(item.get("type", "")).upper().startswith("T")
        counts["asks_across"] += asks
        if asks:
            overlapping = _contains(item.get("question_span"), item.get("answer_span"))
            counts["left_out_as_contained"] += overlapping
            counts["across_time"] += not overlapping
    return {name: counts[name] for name in ("items", "asks_across", "left_out_as_contained", "across_time")}


def _contains(question: Sequence[float] | None, answer: Sequence[float] | None) -> bool:
    if not question or not answer:
        return False
    (a, b), (c, d) = question, answer
    return (a <= c and d <= b) or (c <= a and b <= d)


def cost_per_1000(prices: Prices, reviewed: bool) -> dict[str, float]:
    """Cost of 1,000 samples by the workflow and by annotators (section C.3), and the ratio of the two.

    With the published prices: 35 + 1000 / 60 · 6 = 135 against 1000 / 20 · 6 = 300, which is 45 %; training samples are
    not reviewed.
    """
    review = 1000 / prices.reviews_per_hour * prices.wage_per_hour if reviewed else 0.0
    by_hand = 1000 / prices.written_per_hour * prices.wage_per_hour
    total = prices.generation_per_1000 + review
    return {
        "generation": prices.generation_per_1000,
        "review": review,
        "total": total,
        "by_hand": by_hand,
        "percent_of_by_hand": 100 * total / by_hand if by_hand else 0.0,
    }


def add_counts(parts: Iterable[Mapping]) -> dict:
    """Counts of several shards in one: numbers are added, mappings joined key by key."""
    total: dict = {}
    for counts in parts:
        for name, value in counts.items():
            if isinstance(value, Mapping):
                total[name] = add_counts([total.get(name, {}), value])
            else:
                total[name] = total.get(name, 0) + value
    return dict(sorted(total.items())) if all(isinstance(value, int) for value in total.values()) else total


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
