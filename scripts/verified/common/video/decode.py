"""Forward decoding with PyAV: every frame once, in order, with the time it appears and the time it is replaced."""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np

TOLERANCE = 1e-3
"""Seconds by which a frame may come late and still count as shown."""
FALLBACK_RATE = 25.0
"""Frames per second assumed where neither timestamps nor the container tell."""

Size = int | tuple[int, int] | None
"""Height and width of returned frames; an integer for both; None for the video's own."""

logging.getLogger("libav").setLevel(logging.CRITICAL)  # damage is counted and reported here, once per file


class VideoError(Exception):
    """A file that cannot be used as a video.

    `reason` is a slug for exclusions.jsonl: missing-file, not-a-file, empty-file, unreadable-file, not-a-video,
    no-video-stream or no-frames; `detail` is a sentence for people.
    """

    def __init__(self, reason: str, path: str | os.PathLike, detail: str):
        super().__init__(f"{path}: {detail} ({reason})")
        self.reason, self.path, self.detail = reason, str(path), detail

    def __reduce__(self):
        return VideoError, (self.reason, self.path, self.detail)


class TimedFrame(NamedTuple):
    """A decoded frame on the screen during [time, until), in seconds since the first frame."""

    time: float
    until: float
    frame: av.VideoFrame


class Decoder:
    """Iterates over the frames of one video; `damage` counts what could not be decoded so far.

    A packet that does not decode is skipped and counted, and decoding goes on behind it; when the container itself
    breaks off, the video ends there. Frames without a timestamp, or with one that does not increase, follow the frame
    before them at the nominal rate.
    """

    def __init__(self, path: str | os.PathLike, container: av.container.InputContainer, threads: int):
        self.path, self.damage = str(path), 0
        self._container = container
        self.stream = container.streams.best("video")
        if self.stream is None:
            raise VideoError("no-video-stream", path, "holds no video stream")
        self.stream.codec_context.thread_count = threads
        rate = self.stream.average_rate or self.stream.guessed_rate
        self.nominal_rate = float(rate) if rate and 0 < rate < 1000 else FALLBACK_RATE

    def __iter__(self) -> Iterator[TimedFrame]:
        held: av.VideoFrame | None = None
        origin, time = 0.0, 0.0
        for frame in self._frames():
            stamp = None if frame.pts is None else float(frame.pts * frame.time_base)
            if held is None:
                origin, time = stamp or 0.0, 0.0
            else:
                until = time + 1 / self.nominal_rate if stamp is None or stamp - origin <= time else stamp - origin
                yield TimedFrame(time, until, held)
                time = until
            held = frame
        if held is None:
            raise VideoError("no-frames", self.path, "no frame could be decoded")
        shown = float(held.duration * held.time_base) if held.duration and held.time_base else 0.0
        # The last frame's duration is the least reliable stamp of all: broken muxers write minutes there.
        yield TimedFrame(time, time + (shown if 0 < shown * self.nominal_rate < 4 else 1 / self.nominal_rate), held)

    def _frames(self) -> Iterator[av.VideoFrame]:
        packets = self._container.demux(self.stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except (av.FFmpegError, OSError):
                self.damage += 1
                packet = None
            try:
                frames = packet.decode() if packet is not None else self.stream.codec_context.decode(None)
            except (av.FFmpegError, OSError):
                self.damage += 1
                frames = []
            for frame in frames:
                self.damage += frame.is_corrupt
                yield frame
            if packet is None:
                return


@contextlib.contextmanager
def open_video(path: str | os.PathLike, threads: int = 1) -> Iterator[Decoder]:
    """Open a video for one forward decode. Raises VideoError for a file that is no usable video.

    `threads` are decoder threads; one is best for throughput, because shards already run beside each other.
    """
    path = Path(path)
    _check_file(path)
    try:
        # "file:" and the whitelist keep names and playlists from reaching the network or other protocols.
        container = av.open(f"file:{path}", options={"protocol_whitelist": "file"})
    except (av.FFmpegError, OSError, ValueError) as error:
        raise VideoError("not-a-video", path, f"cannot be opened as a video: {error}") from None
    with container:
        yield Decoder(path, container, threads)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise VideoError("missing-file", path, "no such file")
    if not path.is_file():
        raise VideoError("not-a-file", path, "is not a regular file")
    if not os.access(path, os.R_OK):
        raise VideoError("unreadable-file", path, "may not be read")
    if path.stat().st_size == 0:
        raise VideoError("empty-file", path, "is empty")


def upright_size(frame: av.VideoFrame) -> tuple[int, int]:
    """Height and width of `frame` after its rotation metadata is applied."""
    return (frame.width, frame.height) if _quarter_turns(frame) % 2 else (frame.height, frame.width)


def _quarter_turns(frame: av.VideoFrame) -> int:
    """Counter-clockwise quarter turns that make `frame` upright."""
    return round(frame.rotation / 90) % 4


def frame_array(frame: av.VideoFrame, size: Size = None) -> np.ndarray:
    """uint8 RGB [H, W, 3], upright, scaled by area averaging (bilinear where it grows) to `size` where one is given."""
    height, width = upright_size(frame) if size is None else (size, size) if isinstance(size, int) else size
    turns = _quarter_turns(frame)
    stored_height, stored_width = (width, height) if turns % 2 else (height, width)
    resized = (stored_height, stored_width) != (frame.height, frame.width)
    array = frame.to_ndarray(
        format="rgb24", width=stored_width, height=stored_height, interpolation="AREA" if resized else "BILINEAR"
    )
    return np.ascontiguousarray(np.rot90(array, turns)) if turns else array
