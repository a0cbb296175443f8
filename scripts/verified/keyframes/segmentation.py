"""Adaptive segmentation of one moment (section 3.1) on the content scores of its frames."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from scenedetect import ContentDetector, FrameTimecode
from scenedetect.detector import FlashFilter

SCORED_WIDTH = 256
"""Frames whose longer side exceeds this many pixels are shrunk to it before scoring, as PySceneDetect does."""
NO_TIME = FrameTimecode(0, 1.0)
"""Scores do not depend on it; cuts are found later, for each moment (see `find_cuts`)."""
ROUNDING = 1e-6
"""Seconds of float rounding forgiven when a segment's length is compared with the shortest allowed."""


class Segmentation(NamedTuple):
    """Cuts of a moment (seconds, increasing) and the threshold that produced them."""

    cuts: list[float]
    threshold: float


def find_cuts(times: Sequence[float], scores: Sequence[float], threshold: float, min_seconds: float) -> list[float]:
    """Cuts among frames at `times` (seconds) with content `scores`, by the filter of PySceneDetect's ContentDetector.

    A frame whose score reaches `threshold` begins a new segment if the last such frame is at least `min_seconds` back.
    Cuts that follow faster are merged: the run ends with one cut, at its last frame.
    """
    flash = FlashFilter(FlashFilter.Mode.MERGE, min_seconds - ROUNDING)
    cuts: list[FrameTimecode] = []
    for time, score in zip(times, scores):
        cuts += flash.filter(FrameTimecode(float(time), 1.0), score >= threshold)
    return [cut.seconds for cut in cuts]


def segment_moment(
    times: Sequence[float], scores: Sequence[float], segments: int, threshold: float, min_seconds: float
) -> Segmentation:
    """Raise the threshold from `threshold` until at most `segments` segments remain.

    `times` (seconds) and `scores` are those of the moment's frames; the first frame's score is ignored, as it compares
    with a frame outside. The thresholds are the start and then the value just above each higher score, in increasing
    order: only these can change the outcome.
    """
    scores = [0.0, *scores[1:]]
    tried = [threshold, *(math.nextafter(score, math.inf) for score in sorted(set(scores)) if score >= threshold)]
    for value in tried:
        cuts = find_cuts(times, scores, value, min_seconds)
        if len(cuts) < segments:
            return Segmentation(cuts, value)
    raise AssertionError("above the highest score no cut remains")


def bounds(start: float, end: float, cuts: Sequence[float]) -> list[tuple[float, float]]:
    """Half-open segments of [start, end) between its cuts, all in seconds."""
    edges = [start, *cuts, end]
    return list(itertools.pairwise(edges))


class ContentScore(ContentDetector):
    """Scores a stream of frames: mean absolute difference of hue, saturation and value to the frame before.

    Called with uint8 BGR frames [H, W, 3] in order; returns a float in [0, 255], 0 for the first frame. Frames keep the
    size of the first: one of another size is scaled to it.
    """

    def __init__(self):
        super().__init__()
        self._size: tuple[int, int] | None = None

    def __call__(self, frame: np.ndarray) -> float:
        if self._size is None:
            height, width = frame.shape[:2]
            shrink = max(1.0, max(height, width) / SCORED_WIDTH)
            self._size = max(1, round(width / shrink)), max(1, round(height / shrink))
        if self._size != (frame.shape[1], frame.shape[0]):
            frame = cv2.resize(frame, self._size, interpolation=cv2.INTER_LINEAR)
        self.process_frame(NO_TIME, frame)
        return self._frame_score or 0.0  # private, of a pinned release: a StatsManager has edges computed as well
