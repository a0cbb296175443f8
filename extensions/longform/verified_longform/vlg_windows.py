"""Choice of the window that VLG-Net sees with a sentence: with the moment somewhere in it, or without.

Paper and code disagree (appendix A.2 against the released loader), hence the switches. In both, a moment longer than a
window gets the window around its middle: the paper does not cover it and the code's formula puts the window far away.
"""

from typing import Literal, NamedTuple

import numpy as np

from verified.benchmark.tiou import tiou
from verified_longform.grid import Grid

Sampling = Literal["paper", "code"]


class Drawn(NamedTuple):
    """A window's first frame, and whether its targets come from the moment (they are all zero otherwise)."""

    start: int
    positive: bool


def draw_window(
    random: np.random.Generator,
    first: int,
    last: int,
    frames: int,
    window: int,
    negative_share: float = 0.7,
    jitter: Sampling = "paper",
    negatives: Sampling = "paper",
) -> Drawn:
    """Draw a window of `window` frames for the moment from frame `first` to `last` of a movie of `frames` frames.

    Negatives: ``paper`` starts outside [first − W, last], so that nothing of the moment is seen; ``code`` starts
    anywhere, and now and then shows the moment labelled as absent. Where ``paper`` has no room, a positive is drawn.
    """
    latest = max(0, frames - window)
    if random.random() < negative_share:
        if negatives == "code":
            return Drawn(int(random.integers(0, latest + 1)), False)
        before, after = max(0, first - window), max(0, latest - last)  # places 0 … first−W−1 and last+1 … latest
        if before + after:
            offset = int(random.integers(0, before + after))
            return Drawn(offset if offset < before else last + 1 + offset - before, False)
    return Drawn(_around(random, first, last, latest, window, jitter), True)


def _around(random: np.random.Generator, first: int, last: int, latest: int, window: int, jitter: Sampling) -> int:
    length = last - first
    if length >= window:
        return min(max(0, (first + last - window) // 2), latest)
    if jitter == "code":  # never the window that ends with the moment; early moments are drawn to the movie's start
        return min(max(0, first - int(random.integers(0, window - length))), latest)
    low, high = max(0, last - window), min(first, latest)
    return int(random.integers(low, high + 1)) if low <= high else latest


def targets(grid: Grid, start: int, first: int, last: int) -> np.ndarray:
    """IoU of each anchor of the window that starts at frame `start` with the moment from frame `first` to `last`:
    float32 [anchors]. As published, in whole frames, and with what is in the window only; at least one frame."""
    inside = max(first - start, 0), min(max(last, first + 1) - start, grid.window)
    return tiou(*inside, *(grid.anchors * grid.clip_frames).T).astype(np.float32)
