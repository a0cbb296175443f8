"""Keyframes of all moments of one video, from one decode."""

import math
import os
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from verified.io.video import TOLERANCE, frame_array, open_video, read_frames, stored_array
from verified.io.video.decode import TimedFrame
from verified.keyframes.scores import ContentScore
from verified.keyframes.segments import bounds, segment_moment

BUFFER_BYTES = 256 * 2**20
"""Maximal bytes of decoded frames that wait for their moment to end; see `extract_keyframes`."""


class Keyframe(NamedTuple):
    """A frame on the screen at `time`, the middle of `segment` (seconds); image uint8 RGB [H, W, 3]."""

    time: float
    segment: tuple[float, float]
    image: np.ndarray


class MomentKeyframes(NamedTuple):
    """Keyframes of one moment; none if it is beyond the video's end."""

    keyframes: list[Keyframe]
    cuts: list[float]
    threshold: float | None


class _HeldFrames:
    """The latest frames, undecoded to RGB, within a budget of bytes; the oldest go first."""

    def __init__(self, budget: int):
        self.budget, self.bytes = budget, 0
        self.frames: deque[TimedFrame] = deque()

    def add(self, timed: TimedFrame) -> None:
        self.frames.append(timed)
        self.bytes += _bytes(timed)
        while self.bytes > self.budget and len(self.frames) > 1:
            self._drop()

    def drop_before(self, time: float) -> None:
        """Forget frames that are off the screen at `time`."""
        while self.frames and self.frames[0].until - TOLERANCE <= time:
            self._drop()

    def at(self, time: float) -> np.ndarray | None:
        """The frame on the screen at `time`, or None if it is no longer held. The last frame stays on the screen."""
        if not self.frames or (time < self.frames[0].time - TOLERANCE and self.frames[0].time > 0):
            return None
        timed = next((timed for timed in self.frames if time < timed.until - TOLERANCE), self.frames[-1])
        return frame_array(timed)

    def _drop(self) -> None:
        self.bytes -= _bytes(self.frames.popleft())


def _bytes(timed: TimedFrame) -> int:
    return sum(plane.buffer_size for plane in timed.frame.planes)


def extract_keyframes(
    path: str | os.PathLike,
    moments: list[tuple[float, float]],
    segments: int,
    threshold: float,
    min_seconds: float,
    held_bytes: int = BUFFER_BYTES,
) -> Iterator[tuple[int, MomentKeyframes]]:
    """Yield (index, keyframes) of each moment [start, end) (seconds), in the order in which the moments end.

    Scores are computed once per frame. Which frames are keyframes is known only when a moment ends, so frames of open
    moments are held until then, at most `held_bytes` of them; keyframes of a moment too long for that are read by one
    more sparse pass over the video, so that memory does not grow with the length of a moment.
    A moment that ends behind the video's end is cut off there. Raises VideoError for an unusable file.
    """
    waiting = sorted(range(len(moments)), key=lambda index: (moments[index][1], index))
    held_frames, late = _HeldFrames(held_bytes), []
    score, times, scores = ContentScore(), [], []

    def finish(index: int, ended: float) -> Iterator[tuple[int, MomentKeyframes]]:
        """Segment a moment on its scores and yield its keyframes, or leave it to the sparse pass."""
        start, end = moments[index][0], min(moments[index][1], ended)
        inside = slice(*np.searchsorted(times, [start - TOLERANCE, end - TOLERANCE]))
        segmented = segment_moment(times[inside], scores[inside], segments, threshold, min_seconds)
        spans = bounds(start, end, segmented.cuts)
        images = [held_frames.at((begin + stop) / 2) for begin, stop in spans]
        if any(image is None for image in images):
            late.append((index, spans, segmented))
        else:
            yield index, _pack(spans, images, segmented)

    with open_video(path) as video:
        for timed in video:
            times.append(timed.time)
            scores.append(score(stored_array(timed.frame, "bgr24")))
            oldest = _oldest_needed(moments, waiting, segments)
            held_frames.drop_before(oldest)
            if timed.until - TOLERANCE > oldest:
                held_frames.add(timed)
            while waiting and moments[waiting[0]][1] <= timed.until + TOLERANCE:
                yield from finish(waiting.pop(0), math.inf)
            if not waiting:
                break
        ended = timed.until
    for index in waiting:
        if moments[index][0] >= ended - TOLERANCE:
            yield index, MomentKeyframes([], [], None)
        else:
            yield from finish(index, ended)
    if late:
        yield from _read_late(path, late)


def _oldest_needed(moments, waiting: list[int], segments: int) -> float:
    """Earliest time of which a frame can still become a keyframe; with one segment only middles can."""
    starts = (sum(moments[index]) / 2 if segments == 1 else moments[index][0] for index in waiting)
    return min(starts, default=math.inf)


def _read_late(path, late):
    middles = [(begin + stop) / 2 for _, spans, _ in late for begin, stop in spans]
    images, _ = read_frames(path, middles)
    offset = 0
    for index, spans, segmented in late:
        yield index, _pack(spans, images[offset : offset + len(spans)], segmented)
        offset += len(spans)


def _pack(spans, images, segmented) -> MomentKeyframes:
    keyframes = [Keyframe((begin + stop) / 2, (begin, stop), image) for (begin, stop), image in zip(spans, images)]
    return MomentKeyframes(keyframes, segmented.cuts, segmented.threshold)
