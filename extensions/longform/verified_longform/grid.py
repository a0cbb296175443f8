"""The proposal grid of a long movie: anchors of a window, windows over the movie, and losses at the movie's end.

A window of W frames is read as N clips. Its anchors are the spans of clips of a sparse two-dimensional map: every clip,
every short span, and longer spans at coarser and coarser positions. Windows start every half window.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

Tail = Literal["drop", "cover"]


@dataclass(frozen=True)
class Grid:
    """Rates and sizes; the defaults are MAD's.

    fps: frames per second. window: frames of a window. clips: clips of a window; a divisor of `window`. pooling_counts:
    anchor lengths of each group; the distance of starts doubles from group to group. tail: ``drop`` is published:
    windows start at 0, W/2, W, … strictly below n − W for a movie of n frames, so that up to W/2 frames at the end, and
    every movie of at most W frames, have no proposal. ``cover`` adds one window at the end, and one for a short movie
    whose anchors end within it.
    """

    fps: float = 5.0
    window: int = 128
    clips: int = 64
    pooling_counts: tuple[int, ...] = (5, 8, 8, 8)
    tail: Tail = "drop"

    @property
    def clip_frames(self) -> int:
        """Frames of a clip."""
        return self.window // self.clips

    @property
    def clip_seconds(self) -> float:
        return self.clip_frames / self.fps

    @cached_property
    def anchors(self) -> np.ndarray:
        """Spans of a window in clips, int64 [anchors, 2] as [first, end), ordered by their first clip, then their end.

        626 of them for MAD's 64 clips.
        """
        mask = np.eye(self.clips, dtype=bool)
        offset = 0
        for group, count in enumerate(self.pooling_counts):
            stride = 2**group
            for _ in range(count):
                offset += stride
                first = np.arange(0, self.clips - offset, stride)
                mask[first, first + offset] = True
        first, last = np.nonzero(mask)
        return np.stack([first, last + 1], axis=1)

    def starts(self, frames: int) -> np.ndarray:
        """First frames [windows] of the windows of a movie of `frames`, ascending; each is a multiple of the clip."""
        starts = np.arange(0, max(0, frames - self.window), self.window // 2)
        if self.tail == "cover":
            last = max(0, frames - self.window) // self.clip_frames * self.clip_frames
            if not len(starts) or starts[-1] < last:
                starts = np.append(starts, last)
        return starts

    def proposals(self, frames: int) -> np.ndarray:
        """Every anchor of every window, in clips of the movie, int64 [windows · anchors, 2]; overlaps repeat.

        In a movie shorter than its one covering window, anchors that end beyond the movie are omitted.
        """
        spans = (self.starts(frames)[:, None, None] // self.clip_frames + self.anchors).reshape(-1, 2)
        if frames < self.window:
            spans = spans[spans[:, 1] * self.clip_frames <= frames]
        return spans

    def seconds(self, spans: np.ndarray) -> np.ndarray:
        """Spans in clips [..., 2] as seconds, float64."""
        return spans * self.clip_frames / self.fps

    def frames_of(self, duration: float) -> int:
        """Frames of a movie of `duration` seconds, including the incomplete last one: ceil(duration · fps)."""
        return math.ceil(duration * self.fps - 1e-9)

    def uncovered_seconds(self, frames: int) -> float:
        """Seconds at the end of a movie of `frames` frames in which no proposal is."""
        starts = self.starts(frames)
        covered = min(frames, int(starts[-1]) + self.window) if len(starts) else 0
        return (frames - covered) / self.fps


def distinct(spans: np.ndarray) -> np.ndarray:
    """Spans [P, 2] without repetitions, ordered by start, then end. Repetitions score equally and NMS removes them."""
    return np.unique(spans, axis=0) if len(spans) else spans
