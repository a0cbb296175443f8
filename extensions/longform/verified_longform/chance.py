"""Bounds of the proposals: the Oracle, and Random Chance by expectation and by drawing."""

from collections.abc import Sequence

import numpy as np

from verified.benchmark.tiou import Comparison, first_ranks, hits, tiou
from verified.runtime.seeds import generator
from verified_longform.grid import Grid
from verified_longform.recall import IOUS, KS


def near_proposals(grid: Grid, frames: int, start: float, end: float) -> np.ndarray:
    """Proposals of the windows that meet [start, end] seconds, with repetitions, in clips [P, 2].

    No other proposal of the movie overlaps the moment.
    """
    starts = grid.starts(frames)
    meets = (starts / grid.fps < end) & ((starts + grid.window) / grid.fps > start)
    spans = (starts[meets, None, None] // grid.clip_frames + grid.anchors).reshape(-1, 2)
    return spans[spans[:, 1] * grid.clip_frames <= frames] if frames < grid.window else spans


def oracle_iou(grid: Grid, frames: int, start: float, end: float) -> float:
    """IoU of the movie's best proposal with the moment [start, end] in seconds; 0 where none overlaps it."""
    spans = near_proposals(grid, frames, start, end)
    return float(tiou(start, end, *grid.seconds(spans).T).max(initial=0.0))


def hit_shares(
    grid: Grid,
    frames: int,
    start: float,
    end: float,
    ious: Sequence[float] = IOUS,
    iou_cmp: Comparison = "gt",
) -> np.ndarray:
    """Share of the movie's proposals that hit the moment (seconds), per IoU [ious]; 0 without proposals."""
    total = len(grid.starts(frames)) * len(grid.anchors) if frames >= grid.window else len(grid.proposals(frames))
    if not total:
        return np.zeros(len(ious))
    overlaps = tiou(start, end, *grid.seconds(near_proposals(grid, frames, start, end)).T)
    return hits(overlaps, np.asarray(ious)[:, None], iou_cmp).sum(axis=1) / total


def expected_recall(shares: np.ndarray, ks: Sequence[int] = KS) -> np.ndarray:
    """Expected recall per query [queries, ks, ious] of K independent uniform draws: 1 − (1 − p)^K.

    The published row of Random Chance is this with p = 0.0885, 0.0387 and 0.0141 % for IoU 0.1, 0.3 and 0.5.
    """
    missed = 1 - np.asarray(shares, np.float64)[..., None, :]
    return 1 - missed ** np.asarray(ks, np.float64)[:, None]


def simulate_recall(
    grid: Grid,
    frames: Sequence[int],
    moments: np.ndarray,
    seed: int,
    runs: int = 100,
    ks: Sequence[int] = KS,
    ious: Sequence[float] = IOUS,
    iou_cmp: Comparison = "gt",
) -> np.ndarray:
    """Recall [runs, ks, ious] of as many independent runs, each drawing the best K proposals of every query uniformly.

    frames: of each query's movie [queries]; moments: [queries, 2] seconds.
    """
    random = generator(seed, "random chance", runs)
    answered = np.zeros((runs, len(ks), len(ious)))
    proposals = {count: grid.seconds(grid.proposals(count)) for count in set(frames)}
    for count, (start, end) in zip(frames, moments, strict=True):
        spans = proposals[count]
        if not len(spans):
            continue
        drawn = spans[random.integers(0, len(spans), (runs, max(ks)))]
        overlaps = tiou(drawn[..., 0], drawn[..., 1], start, end)
        for column, threshold in enumerate(ious):
            ranks = first_ranks(hits(overlaps, threshold, iou_cmp))
            answered[:, :, column] += ranks[:, None] <= np.asarray(ks)
    return answered / len(moments)
