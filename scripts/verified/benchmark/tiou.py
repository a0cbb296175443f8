"""Temporal IoU of all benchmarks (intersection of two spans by their hull), and the recall computed from it.

The hull is the union if two spans overlap, and spans that do not overlap have a tIoU of 0, so this is IoU proper. The
TVR evaluator, MAD's and VLG-Net's scripts and ReXTime's evaluator all compute it so; they differ in precision and in
the definition of a hit. TVR: float32, tIoU ≥ θ. MAD: float32, IoU > θ in the text and the zero-shot script, IoU ≥ θ in
VLG-Net's evaluator. ReXTime: float64, IoU ≥ θ.

R@K of ranked lists follows from the rank of the first right row, for every K. Chance level is the recall of a span
drawn uniformly from a video, and of a video drawn from a corpus.
"""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

Comparison = Literal["gt", "ge"]
"""``gt`` counts tIoU > θ as a hit, ``ge`` tIoU ≥ θ."""


def tiou(start: Any, end: Any, other_start: Any, other_end: Any) -> Any:
    """tIoU of spans [start, end] with others, numbers or arrays that broadcast, all of one unit.

    Computed in the precision of the arguments. A reversed span overlaps with nothing, and 0 by 0 is 0.
    """
    shared = np.minimum(end, other_end) - np.maximum(start, other_start)
    hull = np.maximum(end, other_end) - np.minimum(start, other_start)
    return np.maximum(shared, 0) / np.where(hull > 0, hull, 1)


def hits(values: Any, threshold: Any, iou_cmp: Comparison = "ge") -> Any:
    """Whether tIoUs count as hits at thresholds, numbers or arrays that broadcast."""
    return values > threshold if iou_cmp == "gt" else values >= threshold


def first_ranks(right: np.ndarray, ranks: np.ndarray | None = None) -> np.ndarray:
    """Rank, from 1, of the first right row, [...] float64; infinity without one, so that its inverse is 0.

    right [..., rows] bool; `ranks` of the rows, ascending, if they are not simply counted.
    """
    ranks = np.arange(1, right.shape[-1] + 1) if ranks is None else ranks
    return np.where(right, ranks, np.inf).min(axis=-1, initial=np.inf)


PARTS = 64
"""Equal parts of a video between which a guessed span may begin and end."""


def guessed_span(moments: Iterable[tuple[float, float, float]], threshold: float) -> float:
    """Probability that a span guessed in the right video meets a moment (start, end, duration of the video in seconds)
    at a tIoU of `threshold` or more, on average over moments; not a number without moments."""
    first, last = np.triu_indices(PARTS + 1, 1)
    shares = []
    for start, end, duration in moments:
        part = duration / PARTS
        overlaps = tiou(first * part, last * part, start, end)
        shares.append(float(hits(overlaps, threshold, "ge").mean()))
    return float(np.mean(shares)) if shares else float("nan")


def guessed_recall(task: str, metric: str, moments: list[tuple[float, float, float]], videos: int) -> float | None:
    """Expected recall in percent of one guess, for VR ``r1``, and SVMR and VCMR ``THRESHOLD/r1`` over `videos`; None
    for other metrics."""
    threshold, _, rank = metric.rpartition("/")
    if rank != "r1" or not videos or not moments:
        return None
    if task == "VR":
        return 100 / videos
    share = guessed_span(moments, float(threshold)) if threshold else float("nan")
    return {"SVMR": 100 * share, "VCMR": 100 * share / videos}.get(task)
