"""The proposal grid of a long movie: anchors of a window, windows over the movie, and losses at the movie's end.

A window of W frames is read as N clips. Its anchors are the spans of clips of a sparse two-dimensional map: every clip,
every short span, and longer spans at coarser and coarser positions. Windows start every half window.
"""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from verified.config.base import Section

if TYPE_CHECKING:
    import numpy as np


class Grid(Section):
    """The proposals; the defaults are MAD's."""

    fps: float = Field(default=5.0, gt=0)
    """Frames per second of the features."""
    window: int = Field(default=128, ge=2)
    """Frames of a window; windows start every half window."""
    clips: int = Field(default=64, ge=2)
    """Clips of a window; a divisor of `window`."""
    pooling_counts: tuple[int, ...] = (5, 8, 8, 8)
    """Anchor lengths of each group; the distance of starts doubles from group to group."""
    tail: Literal["drop", "cover"] = "drop"
    """drop: the published windows, which leave up to half a window at a movie's end, and short movies, without a
    proposal; cover: one more window at the end."""

    @model_validator(mode="after")
    def whole_clips(self) -> "Grid":
        if self.window % self.clips or (self.window // 2) % (self.window // self.clips):
            raise ValueError("window must be an even multiple of clips' length: half a window holds whole clips")
        return self

    @property
    def clip_frames(self) -> int:
        """Frames of a clip."""
        return self.window // self.clips

    @cached_property
    def anchors(self) -> "np.ndarray":
        """Spans of a window in clips, int64 [anchors, 2] as [first, end), ordered by their first clip, then their end.

        626 of them for MAD's 64 clips.
        """
        import numpy as np  # which a reader of the configuration alone does not wait for

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

    def starts(self, frames: int) -> "np.ndarray":
        """First frames [windows] of the windows of a movie of `frames`, ascending; each is a multiple of the clip."""
        import numpy as np

        starts = np.arange(0, max(0, frames - self.window), self.window // 2)
        if self.tail == "cover":
            last = max(0, frames - self.window) // self.clip_frames * self.clip_frames
            if not len(starts) or starts[-1] < last:
                starts = np.append(starts, last)
        return starts

    def proposals(self, frames: int) -> "np.ndarray":
        """Every anchor of every window, in clips of the movie, int64 [windows · anchors, 2]; overlaps repeat.

        In a movie shorter than its one covering window, anchors that end beyond the movie are omitted.
        """
        spans = (self.starts(frames)[:, None, None] // self.clip_frames + self.anchors).reshape(-1, 2)
        if frames < self.window:
            spans = spans[spans[:, 1] * self.clip_frames <= frames]
        return spans

    def seconds(self, spans: "np.ndarray") -> "np.ndarray":
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
