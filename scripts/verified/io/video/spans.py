"""Frames of many spans from one forward decode, at a given rate, number or list of times."""

import bisect
import heapq
import math
import os
from collections.abc import Iterator, Sequence

import numpy as np

from verified.io.video.decode import TOLERANCE, Size, TimedFrame, frame_array, upright_size
from verified.io.video.decord_reader import open_reader


def rate_times(start: float, end: float, fps: float) -> np.ndarray:
    """The grid start, start + 1/fps, … below `end` (seconds, float64), [times]; at least its first point."""
    return start + np.arange(rate_count(start, end, fps)) / fps


def rate_count(start: float, end: float, fps: float) -> int:
    """Number of points of `rate_times`; `start` and `end` in seconds."""
    return max(1, math.ceil((end - start) * fps - TOLERANCE * fps))


def uniform_times(start: float, end: float, count: int) -> np.ndarray:
    """Mid-points [count] of equal parts of the time from `start` to `end` (seconds, float64)."""
    return start + (np.arange(count) + 0.5) * (end - start) / count


class _Span:
    """One request in progress: its pending times and its frames."""

    def __init__(self, index: int, times: np.ndarray, fill: bool):
        self.index = index
        self.times: list[float] = times.tolist()
        self.fill = fill  # whether times after the last frame show the last frame
        self.frames: list[np.ndarray] = []
        self.shown: list[float] = []

    @property
    def complete(self) -> bool:
        return len(self.frames) == len(self.times)

    def share(self, timed: TimedFrame, last: bool) -> int:
        """Number of this span's times that the frame `timed` serves; the first frame also serves earlier times."""
        horizon = math.inf if last and self.fill else timed.until - TOLERANCE
        return bisect.bisect_left(self.times, horizon, len(self.frames)) - len(self.frames)

    def result(self, shape: tuple[int, int]) -> tuple[int, np.ndarray, np.ndarray]:
        """Index, frames and times, in the form of `frames_of_spans`; `shape` is the frames' height and width.

        The frames are released on return, as a served request remains in the list of requests.
        """
        frames = np.stack(self.frames) if self.frames else np.zeros((0, *shape, 3), np.uint8)
        self.frames = []
        return self.index, frames, np.array(self.shown, np.float64)


def frames_of_spans(
    path: str | os.PathLike[str],
    spans: Sequence[tuple[float, float]],
    *,
    fps: float | None = None,
    count: int | None = None,
    size: Size = None,
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Decode a video once and yield (index, frames, times) of each span as soon as it is complete.

    `spans` are [start, end) in seconds; they may overlap and come in any order. `frames` is uint8 RGB [T, H, W, 3];
    `times` is float64 [T], the true time of each frame.

    - `fps`: the frames at start, start + 1/fps, … below end, so T = ceil((end - start)·fps). A frame repeats if the
      video is slower. Grid points after the video's end are omitted.
    - `count`: the frames at the mid-points of `count` equal parts, so T = count. Points after the video's end repeat
      the last frame.
    - `size`: None, one number (square) or (height, width).

    A span that begins after the end of the video gives T = 0; the caller must count it. Spans are yielded in the order
    of their completion. Memory holds the frames of the spans that are open at one moment, each once. Decoding ends with
    the last span. Raises VideoError for an unusable file, ValueError for a span with end <= start.
    """
    if (fps is None) == (count is None):
        raise ValueError("give fps or count")
    requests: list[_Span] = []
    for index, (start, end) in enumerate(spans):
        if not (math.isfinite(start) and math.isfinite(end) and end > start):
            raise ValueError(f"span {index}: [{start}, {end}) is empty or not finite")
        times = rate_times(start, end, fps) if fps else uniform_times(start, end, count or 0)
        requests.append(_Span(index, times, fill=count is not None))
    for span, shape in _stream(path, requests, size):
        yield span.result(shape)


def read_frames(
    path: str | os.PathLike[str], times: Sequence[float] | np.ndarray, size: Size = None
) -> tuple[np.ndarray, np.ndarray]:
    """The frames on the screen at `times` (seconds, any order): uint8 RGB [T, H, W, 3] and their true times [T].

    Times before the first frame show the first, times after the end the last. Raises VideoError for an unusable file.
    """
    seconds = np.asarray(times, np.float64)
    if not seconds.size:
        raise ValueError("no times given")
    # A leading time of 0 puts the start of the span inside the video, so that later times fill from its last frame.
    ordered = np.unique(np.concatenate([[0.0], np.maximum(seconds, 0.0)]))
    span, _ = next(_stream(path, [_Span(0, ordered, fill=True)], size))
    indices: list[int] = np.searchsorted(ordered, np.maximum(seconds, 0.0)).tolist()
    return np.stack([span.frames[index] for index in indices]), np.array([span.shown[index] for index in indices])


def iterate_frames(
    path: str | os.PathLike[str], fps: float | None = None, size: Size = None
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (time, frame) over a whole video: every frame, or the frames on the screen at 0, 1/fps, 2/fps, ….

    `time` is the frame's true time, or the grid time where a rate is given; `frame` is uint8 RGB [H, W, 3]. Memory
    holds one frame. Raises VideoError for an unusable file.
    """
    with open_reader(path) as video:
        step = 0
        for timed in video:
            if fps is None:
                size = size or upright_size(timed)
                yield timed.time, frame_array(timed, size)
            elif step / fps < timed.until - TOLERANCE:
                size = size or upright_size(timed)
                array = frame_array(timed, size)
                while step / fps < timed.until - TOLERANCE:
                    yield step / fps, array
                    step += 1
                video.needed = step / fps


def _stream(path: str | os.PathLike[str], requests: list[_Span], size: Size) -> Iterator[tuple[_Span, tuple[int, int]]]:
    """Yield each completed request from one decode, with height and width: all frames get the first one's."""
    waiting = [(span.times[0], span.index, span) for span in requests]
    heapq.heapify(waiting)
    active: list[_Span] = []
    with open_reader(path) as video:
        following = iter(video)
        timed = next(following)
        shape = upright_size(timed) if size is None else (size, size) if isinstance(size, int) else size
        while (waiting or active) and timed is not None:
            pending = [span.times[len(span.frames)] for span in active]
            video.needed = min([*pending, *(entry[0] for entry in waiting[:1])])
            upcoming = next(following, None)
            while waiting and waiting[0][0] < timed.until - TOLERANCE:
                active.append(heapq.heappop(waiting)[2])
            array = None
            for span in active:
                share = span.share(timed, upcoming is None)
                if share > 0:
                    array = frame_array(timed, shape) if array is None else array
                    span.frames.extend([array] * share)
                    span.shown.extend([timed.time] * share)
            finished = [span for span in active if span.complete]
            active = [span for span in active if span not in finished]
            for span in finished:
                yield span, shape
            timed = upcoming
        for span in sorted([*active, *(entry[2] for entry in waiting)], key=lambda span: span.index):
            yield span, shape
