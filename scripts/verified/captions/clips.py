"""Clips for the video LMM: one decode of each video for all its moments, thinned to the model's limit."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import numpy as np

from verified.io.video import VideoError, frames_of_spans
from verified.io.video.spans import rate_count
from verified.lmm.client import Call, MediaError


def frame_count(duration: float, dynamics: Mapping) -> tuple[int, bool]:
    """(number of frames the video LMM gets, whether the clip is thinned) for a moment of `duration` seconds.

    DiDeMo and Charades are sampled at 8 frames per second, ActivityNet at 64 uniform frames (section 3.4); more than
    `max_frames` are thinned uniformly.
    """
    count = dynamics["frames"] or rate_count(0.0, duration, dynamics["fps"])
    return min(count, dynamics["max_frames"]), count > dynamics["max_frames"]


def clip_digest(video: dict, start: float, end: float, dynamics: Mapping, side: int, form: str = "stills") -> str:
    """Identifies the frames of a moment without decoding them: file, sampling, and the form they are given in."""
    as_video = "" if form == "stills" else f", as {form}"
    rate = f"{dynamics['fps']:g} fps" if dynamics["fps"] else f"{dynamics['frames']} frames"
    return f"{video['sha256']} {start!r}-{end!r} {rate} of at most {dynamics['max_frames']}, side {side}{as_video}"


def fitted_size(video: dict, side: int) -> tuple[int, int] | None:
    """Height and width with the longer side at most `side` pixels; None if the video is smaller."""
    scale = side / max(video["height"], video["width"])
    if scale >= 1:
        return None
    return max(1, round(video["height"] * scale)), max(1, round(video["width"] * scale))


def uniform(frames: int) -> dict:
    """The `dynamics` of clips with so many frames each."""
    return {"fps": None, "frames": frames, "max_frames": frames}


Decoded = tuple[int, dict] | VideoError
"""The position of a moment with its clip; or, as the last, the error that ends a video."""


class Clips:
    """Serves the clips of many moments, decoding each video at most once.

    `moments` in the order in which `load` will be called, those of one video together. A video whose `calls` the ledger
    answers is never opened. Memory holds the clips of one video that were decoded but not fetched yet.

    With `threads`, that many videos are decoded at a time while a model answers, until `ahead` clips beyond the current
    video are decoding or ready. It begins when `ahead` clips were fetched, because an engine that forks does so at its
    first batch. Use as a context manager, which ends the threads.
    """

    def __init__(
        self,
        moments: list[dict],
        videos: Mapping[str, dict],
        dynamics: Mapping,
        side: int,
        threads: int = 0,
        ahead: int = 0,
    ):
        self.moments, self.videos, self.dynamics, self.side = moments, videos, dynamics, side
        self.needed: Callable[[int], bool] = lambda position: True
        self.positions: dict[str, list[int]] = {}
        for position, moment in enumerate(moments):
            self.positions.setdefault(moment["video"], []).append(position)
        self.video: str | None = None
        self.stream: Iterator[Decoded] = iter(())
        self.ready: dict[int, dict] = {}
        self.pool = ThreadPoolExecutor(threads, "clips") if threads else None
        self.ahead, self.fetched = ahead, 0
        self.later = deque(self.positions)
        self.coming: dict[str, tuple[int, Future[list[Decoded]]]] = {}

    def __enter__(self) -> "Clips":
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool:
            self.pool.shutdown(cancel_futures=True)

    def calls(
        self,
        form: str,
        has_answer: Callable[[Call], bool],
        make: Callable[[int, str, Callable[[], dict]], Call],
    ) -> list[Call]:
        """The call about each moment.

        `make` gets its position, the digest of its frames and a function that fetches them; `form` is the role's
        `video_input`. `has_answer` tells whether the ledger answers a call.
        """
        calls: list[Call] = []
        for position, moment in enumerate(self.moments):
            video, start, end = self.videos[moment["video"]], moment["start"], moment["end"]
            digest = clip_digest(video, start, end, self.dynamics, self.side, form)
            calls.append(make(position, digest, partial(self.load, position)))
        self.needed = lambda position: not has_answer(calls[position])
        return calls

    def load(self, position: int) -> dict:
        """`frames` (uint8 [T, H, W, 3]) and `frame_times` (seconds from the moment's start). Raises MediaError."""
        moment = self.moments[position]
        if moment["video"] != self.video:
            self.video, self.ready = moment["video"], {}
            self.stream = self._stream(moment["video"])
        self.fetched += 1
        while position not in self.ready:
            decoded = next(self.stream, None)
            if decoded is None:
                raise MediaError(f"the video {moment['video']} could not be decoded")
            if isinstance(decoded, VideoError):
                raise MediaError(f"{decoded.reason}: {decoded.detail}")
            self.ready[decoded[0]] = decoded[1]
        clip = self.ready.pop(position)
        if not len(clip["frames"]):
            raise MediaError("no frame of the moment could be decoded")
        return clip

    def _stream(self, video: str) -> Iterator[Decoded]:
        """The clips of a video as they come; videos behind it in the order are sent to the threads."""
        future = None
        if video in self.coming:
            while (first := next(iter(self.coming))) != video:  # answered without its clips
                self.coming.pop(first)[1].cancel()
            future = self.coming.pop(video)[1]
        else:
            while self.later and self.later.popleft() != video:
                continue
        waiting = sum(count for count, _ in self.coming.values())
        while self.pool and self.fetched >= self.ahead and self.later and waiting < self.ahead:
            name = self.later.popleft()
            if positions := self._wanted_positions(name):
                self.coming[name] = len(positions), self.pool.submit(list, self._decode(name, positions))
                waiting += len(positions)
        return iter(future.result()) if future else self._decode(video, self._wanted_positions(video))

    def _wanted_positions(self, video: str) -> list[int]:
        """Positions whose clips are needed; the ledger is read by the caller's thread alone."""
        return [position for position in self.positions[video] if self.needed(position)]

    def _decode(self, video: str, positions: list[int]) -> Iterator[Decoded]:
        row = self.videos[video]
        spans = [(self.moments[number]["start"], self.moments[number]["end"]) for number in positions]
        sampling = {"fps": self.dynamics["fps"]} if self.dynamics["fps"] else {"count": self.dynamics["frames"]}
        size = fitted_size(row, self.side)
        try:
            for index, frames, times in frames_of_spans(row["path"], spans, **sampling, size=size):
                sampled = thin_frames(len(frames), self.dynamics["max_frames"])
                seconds = (times[sampled] - spans[index][0]).round(3).tolist()
                yield positions[index], {"frames": frames[sampled], "frame_times": tuple(seconds)}
        except VideoError as error:
            yield error


def thin_frames(count: int, most: int) -> np.ndarray:
    """Indices [n] of at most `most` of `count` frames, uniformly spread (mid-points of equal parts)."""
    if count <= most:
        return np.arange(count)
    return ((np.arange(most) + 0.5) * count / most).astype(int)


def order_by_video(moments: Iterable[dict]) -> list[int]:
    """Positions of the moments, those of one video together and in the order in which their clips end."""
    listed = list(moments)
    return sorted(range(len(listed)), key=lambda number: (listed[number]["video"], listed[number]["end"], number))
