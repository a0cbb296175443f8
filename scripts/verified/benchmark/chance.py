"""Chance level: recall of a span drawn uniformly from a video, and of a video drawn from a corpus."""

from collections.abc import Iterable

import numpy as np

from verified.benchmark.tiou import hits, tiou

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
