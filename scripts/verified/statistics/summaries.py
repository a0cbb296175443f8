"""Confidence scores (supplement Table 1, Figure 4) and time spans (supplement Table 1) of annotations."""

import math
from collections.abc import Sequence

import numpy as np

from verified.errors import InputError
from verified.io.fig import TYPES

SPAN_BIN_SECONDS = 2.0
RELATIVE_BINS = 20
SCORE_BIN = 0.5


def confidence(rows: list[dict]) -> dict:
    """The figures of supplement Table 1 and the histogram of Figure 4.

    ``captions, span_seconds, statics_count, statics_confidence, dynamics_count, dynamics_confidence,
    total_confidence``: None if the rows have no type (as the released ones) or no scores. ``scores``: bin ``edges``
    common to all, ``total`` and each of ``types`` with ``captions, mean, median, deviation, positive`` (share above 0)
    and ``counts`` per bin; None without scores. Raises InputError without rows.
    """
    span = spans(rows)["mean_seconds"]
    summary = _histograms(rows) if "fig_desc_score" in rows[0] else None
    types = summary and summary["types"]
    result = {"captions": len(rows), "span_seconds": span}
    for name in TYPES:
        result[f"{name}_count"] = types[name]["captions"] if types else None
        result[f"{name}_confidence"] = types[name]["mean"] if types else None
    return {**result, "total_confidence": summary and summary["total"]["mean"], "scores": summary}


def _histograms(rows: list[dict]) -> dict:
    scores = np.array([row["fig_desc_score"] for row in rows], np.float64)
    low = math.floor(scores.min() / SCORE_BIN) * SCORE_BIN
    high = max(math.ceil(scores.max() / SCORE_BIN) * SCORE_BIN, low + SCORE_BIN)
    edges = np.linspace(low, high, round((high - low) / SCORE_BIN) + 1)
    kinds = np.array([row.get("fig_desc_type") or "" for row in rows])
    types = {name: _scores(scores[kinds == name], edges) for name in TYPES} if all(kinds) else None
    return {"edges": edges.tolist(), "total": _scores(scores, edges), "types": types}


def _scores(scores: np.ndarray, edges: np.ndarray) -> dict:
    empty = not len(scores)
    return {
        "captions": len(scores),
        "mean": None if empty else float(scores.mean()),
        "median": None if empty else float(np.median(scores)),
        "deviation": None if empty else float(scores.std()),
        "positive": None if empty else float((scores > 0).mean()),
        "counts": np.histogram(scores, edges)[0].tolist(),
    }


def spans(rows: list[dict]) -> dict:
    """Lengths (seconds) and positions (shares of the video) of the moments.

    The published mean span counts the annotation as given, also if it ends after the video; ``mean_seconds_clamped``
    cuts it there, and ``past_end`` is the number of cut ones. Positions are clamped to [0, 1].
    """
    if not rows:
        raise InputError("no annotations to summarise", remedy="see their counts.json")
    start, end = np.array([row["time"] for row in rows], np.float64).T
    duration = np.array([row["duration"] for row in rows], np.float64)
    length = end - start
    clamped = np.minimum(end, duration) - np.minimum(start, duration)
    mask = duration > 0
    edges = np.arange(0, length.max() + SPAN_BIN_SECONDS, SPAN_BIN_SECONDS)
    return {
        "captions": len(rows),
        "videos": len({row["video"] for row in rows}),
        "mean_seconds": float(length.mean()),
        "mean_seconds_clamped": float(clamped.mean()),
        "median_seconds": float(np.median(length)),
        "shortest_seconds": float(length.min()),
        "longest_seconds": float(length.max()),
        "past_end": int((end > duration).sum()),
        "length_seconds": {"edges": edges.tolist(), "counts": np.histogram(length, edges)[0].tolist()},
        "start": _positions(start[mask] / duration[mask]),
        "end": _positions(end[mask] / duration[mask]),
        "share": _positions(length[mask] / duration[mask]),
    }


def _positions(shares: Sequence[float]) -> dict:
    edges = np.linspace(0, 1, RELATIVE_BINS + 1)
    return {"edges": edges.round(6).tolist(), "counts": np.histogram(np.clip(shares, 0, 1), edges)[0].tolist()}
