"""Forward decoding with PyAV: every frame once, in order, with the time it appears and the time it is replaced.

The default reader; `decord_reader` is the other one, for MP4 files where the configuration names it.
"""

import bisect
import contextlib
import itertools
import logging
import math
import os
import threading
from collections.abc import Generator, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition
from av.video.reformatter import VideoReformatter

TOLERANCE = 1e-3
"""Seconds by which a frame may be late and still count as shown."""
MARGIN = 0.5
"""Seconds before a needed time from which on every frame is decoded."""
TRIED = 2
"""Key frames that a jump tries."""
SAME = 1e-6
"""Seconds by which two numbers for one time may differ."""
FALLBACK_RATE = 25.0
"""Frames per second assumed where neither timestamps nor the container state a rate."""

Size = int | tuple[int, int] | None
"""Height and width of returned frames; an integer for both; None for the video's own."""

_converter = threading.local()

logging.getLogger("libav").setLevel(logging.CRITICAL)  # damage is counted and reported here, once per file


class VideoError(Exception):
    """A file that cannot be used as a video.

    `reason` is a slug for exclusions.jsonl: missing-file, not-a-file, empty-file, unreadable-file, not-a-video,
    no-video-stream, no-decoder or no-frames; `detail` is a sentence for people.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str], detail: str):
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

    The caller may raise `needed` (seconds) to say that frames which end before it are not wanted. Where the
    container's index shows a key frame in between, decoding goes on there; where it shows frames without gaps, those
    that no other frame depends on are left out. The frames that do come are the same, and so is the one at `needed`.
    """

    def __init__(self, path: str | os.PathLike[str], container: InputContainer, threads: int):
        self.path, self.damage, self.needed = str(path), 0, 0.0
        self._container = container
        stream = container.streams.best("video")
        # A sound file's cover picture looks like a video stream.
        if not isinstance(stream, av.VideoStream) or stream.disposition & Disposition.attached_pic:
            raise VideoError("no-video-stream", path, "holds no video stream")
        # Formats without a decoder of pixels, such as SVG, and codecs that nobody has heard of.
        if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison] (against PyAV's annotation)
            raise VideoError("no-decoder", path, "its codec cannot be decoded")
        self.stream = stream
        self.stream.codec_context.thread_count = threads
        rate = self.stream.average_rate or self.stream.guessed_rate
        self.nominal_rate = float(rate) if rate and 0 < rate < 1000 else FALLBACK_RATE
        self._origin: float | None = None  # stamp of the first frame, in seconds
        self._reached = 0.0  # time of the packet read last, in seconds
        self._last: float = -math.inf  # stamp of the frame given last, in ticks
        self._from = -math.inf  # frames stamped earlier, in ticks, are dropped: a jump passed them by
        self._stamped = True  # whether every frame so far had a stamp; without, nothing is left out
        self._skipping = False  # whether frames that no other depends on are left out
        self._landed = False  # whether the next frame is the first one behind a jump
        self._index: _Index | None = None  # read when it is first of use

    @property
    def mp4(self) -> bool:
        """Whether the container is of the MP4 family."""
        return "mp4" in self._container.format.name.split(",")

    @property
    def claimed_seconds(self) -> float:
        """Length that the container's header claims, 0 where it claims none."""
        of_stream = _seconds(self.stream.duration, self.stream.time_base)
        return of_stream if of_stream is not None else (self._container.duration or 0) / av.time_base

    @property
    def held_seconds(self) -> float:
        """As `claimed_seconds`, but less in a file that ends before its index does, such as half a download."""
        size, entries = os.path.getsize(self.path), self.stream.index_entries
        lost = min((entry.timestamp for entry in entries if entry.pos + entry.size > size), default=None)
        begin = min((entry.timestamp for entry in entries), default=0)
        held = None if lost is None else _seconds(lost - begin, self.stream.time_base)
        return self.claimed_seconds if held is None else min(self.claimed_seconds, held)

    def __iter__(self) -> Iterator[TimedFrame]:
        # Ticks are the stream's: frames given out at the end of the stream do not say so themselves.
        base, time = self.stream.time_base, 0.0
        previous: av.VideoFrame | None = None
        for frame in self._frames():
            stamp = _seconds(frame.pts, base)
            if self._origin is None:
                self._origin = stamp or 0.0
            elif self._landed and stamp is not None:  # without a stamp it was dropped
                self._landed, time = False, stamp - self._origin
            elif previous is not None:
                at = time if stamp is None else stamp - self._origin
                until = at if at > time else time + 1 / self.nominal_rate
                yield TimedFrame(time, until, previous)
                time = until
            previous = frame
        if previous is None:
            raise VideoError("no-frames", self.path, "no frame could be decoded")
        shown = _seconds(previous.duration, base) or 0.0
        # The last frame's duration is the least reliable stamp of all: broken muxers write minutes there.
        yield TimedFrame(time, time + (shown if 0 < shown * self.nominal_rate < 4 else 1 / self.nominal_rate), previous)

    def _frames(self) -> Iterator[av.VideoFrame]:
        for packet in self._packets():
            try:
                frames = self.stream.codec_context.decode(packet)  # pyright: ignore[reportUnknownMemberType] (its packet)
            except (FFmpegError, OSError):
                self.damage += 1
                continue
            for frame in frames:
                if self._from > -math.inf and (frame.pts is None or frame.pts < self._from):
                    continue
                if self._landed and self._time_of(frame) > self.needed + SAME:
                    self._undo_jump()
                    break
                self.damage += frame.is_corrupt
                self._stamped = self._stamped and frame.pts is not None
                self._last = self._last if frame.pts is None else frame.pts
                yield frame

    def _packets(self) -> Iterator["av.Packet[av.VideoStream] | None"]:
        """Packets of the stream and then None, at which the decoder releases the frames it still holds."""
        self._demuxed = self._container.demux(self.stream)
        while True:
            try:
                if self.needed > self._reached + MARGIN and self._origin is not None:
                    self._jump(self._origin)
                packet = next(self._demuxed)
            except StopIteration:
                break
            except (FFmpegError, OSError):
                self.damage += 1
                break
            if packet.size:
                time = self._time_of(packet)
                self._reached = max(self._reached, time)
                self._decode_all(time >= self.needed - MARGIN)
                yield packet
        yield None

    def _decode_all(self, everything: bool) -> None:
        """Switch between decoding all frames and only those that others depend on."""
        skip = not everything and self._stamped and self._index is not None and self._index.dense
        if skip != self._skipping:
            self._skipping = skip
            self.stream.codec_context.skip_frame = "NONREF" if skip else "DEFAULT"

    def _time_of(self, packet: "av.Packet[av.VideoStream] | av.VideoFrame") -> float:
        stamp = packet.pts if packet.pts is not None else packet.dts
        return (_seconds(stamp, self.stream.time_base) or 0.0) - (self._origin or 0.0)

    def _jump(self, origin: float) -> None:
        """Jump to the last key frame that is shown by the time needed, unless decoding forward is as good.

        When it is shown stands in its packet; the index alone may be wrong. One that comes too late gives way to the
        key frame before it.
        """
        if self._index is None:
            self._index = _read_index(self.stream)
        first = bisect.bisect_right(self._index.keys, self._reached + MARGIN)
        last = bisect.bisect_right(self._index.keys, self.needed + SAME)
        if first >= last or not self._stamped:
            return
        for key in self._index.keys[first:last][: -1 - TRIED : -1]:
            self._container.seek(round((key + origin) / (self.stream.time_base or 1)), stream=self.stream)
            packets = self._container.demux(self.stream)
            packet = next(packets, None)
            if packet is None or packet.pts is None or self._time_of(packet) <= self._reached:
                break
            if self._time_of(packet) <= self.needed + SAME:
                self._from, self._landed = packet.pts, True
                self._demuxed = itertools.chain([packet], packets)
                return
        self._undo_jump()

    def _undo_jump(self) -> None:
        """After a jump that did not land as the index said: decode from the start, and drop the frames already given.

        No other jump is tried.
        """
        self._index, self._from, self._landed = _Index([], dense=False), self._last + 1, False
        self._decode_all(True)
        self._container.seek(0, backward=True)
        self._demuxed = self._container.demux(self.stream)


class _Index(NamedTuple):
    """What a container's index tells: when key frames are shown (seconds), and whether it shows all frames, without
    gaps."""

    keys: list[float]
    dense: bool


def _read_index(stream: av.VideoStream) -> _Index:
    """The index of a stream; it may be empty.

    It has decoding times, which run ahead of the times shown: by as much everywhere, it is taken, as at the start.
    """
    entries = sorted((entry.timestamp, entry.is_keyframe) for entry in stream.index_entries)
    times = [_seconds(ticks - entries[0][0], stream.time_base) or 0.0 for ticks, _ in entries]
    keys = [time for time, (_, key) in zip(times, entries) if key]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    return _Index(keys if len(keys) > 1 else [], dense=bool(gaps) and max(gaps) < MARGIN / 2)


def _seconds(ticks: int | None, base: Fraction | None) -> float | None:
    return None if ticks is None or not base else ticks * base.numerator / base.denominator


@contextlib.contextmanager
def open_video(path: str | os.PathLike[str], threads: int = 1) -> Generator[Decoder]:
    """Open a video for one forward decode. Raises VideoError for a file that is no usable video.

    `threads` are decoder threads; one is best for throughput, because shards already run in parallel.
    """
    path = Path(path)
    _check_file(path)
    try:
        # "file:" and the whitelist keep names and playlists from reaching the network or other protocols.
        container = av.open(f"file:{path}", options={"protocol_whitelist": "file"})
    except (FFmpegError, OSError, ValueError) as error:
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
    """uint8 RGB [H, W, 3], upright, scaled by area averaging to `size` where one is given."""
    height, width = upright_size(frame) if size is None else (size, size) if isinstance(size, int) else size
    turns = _quarter_turns(frame)
    stored = (width, height) if turns % 2 else (height, width)
    array = stored_array(frame, "rgb24", stored)
    return np.ascontiguousarray(np.rot90(array, turns)) if turns else array


def stored_array(frame: av.VideoFrame, pixels: str, size: tuple[int, int] | None = None) -> np.ndarray:
    """uint8 [H, W, 3] as stored, not turned; `pixels` is rgb24 or bgr24, `size` (height, width)."""
    if not hasattr(_converter, "reformat"):
        _converter.reformat = VideoReformatter().reformat
    height, width = size or (frame.height, frame.width)
    method = "BILINEAR" if (height, width) == (frame.height, frame.width) else "AREA"
    # One converter for all frames and one thread: setting either up costs more than the conversion of a small frame.
    plane = _converter.reformat(frame, width, height, pixels, interpolation=method, threads=1).planes[0]
    # No copy where the plane's rows are not padded: its memory stays alive with the array.
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[:height, : 3 * width]
    return np.ascontiguousarray(rows.reshape(height, width, 3))
