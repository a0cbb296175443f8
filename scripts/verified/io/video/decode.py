"""Forward decoding with PyAV: every frame once, in order, with the time it appears and the time it is replaced.

The default reader; `decord_reader` is the other one, for MP4 files where the configuration names it.
"""

import bisect
import contextlib
import itertools
import logging
import math
import os
import re
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
from av.video.reformatter import ColorPrimaries, ColorTrc, VideoReformatter

TOLERANCE = 1e-3
"""Seconds by which a frame may be late and still count as shown."""
MARGIN = 0.5
"""Seconds before a needed time from which every frame is decoded."""
TRIED = 2
"""Key frames to try for a jump."""
SAME = 1e-6
"""Seconds by which two numbers for one time may differ."""
FALLBACK_RATE = 25.0
"""Frames per second assumed if timestamps and container state no rate."""
USUAL_FRAMES = 4
"""The last frame's own duration is trusted up to this number of frames at the nominal rate, and beyond if the header
agrees."""
INDEXED = {"mp4", "matroska"}
"""Containers in which decoding may resume at a key frame of the index: in others seeks miss it, or stamps of the first
packets after it are guesses."""
SQUARE = 0.01
"""Pixels whose sides differ by a smaller share count as square: encoders write such ratios when they round sizes."""
HDR = {ColorTrc.SMPTE2084, ColorTrc.ARIB_STD_B67}
"""Transfer functions of HDR: PQ and HLG."""
TO_SDR = {"dst_color_trc": ColorTrc.BT709, "dst_color_primaries": ColorPrimaries.BT709}

Size = int | tuple[int, int] | None
"""Height and width of returned frames; an integer for both; None for the video's own."""

_converter = threading.local()
_TAG = re.compile(r"(\d+):(\d+):(\d+(?:\.\d+)?)")

logging.getLogger("libav").setLevel(logging.CRITICAL)  # damage is counted and reported here, once per file


class VideoError(Exception):
    """A file that is unusable as a video.

    `reason` is a slug for exclusions.jsonl: missing-file, not-a-file, empty-file, unreadable-file, not-a-video,
    no-video-stream, no-decoder or no-frames; `detail` is a sentence for people.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str], detail: str):
        super().__init__(f"{path}: {detail} ({reason})")
        self.reason, self.path, self.detail = reason, str(path), detail

    def __reduce__(self):
        return VideoError, (self.reason, self.path, self.detail)


class View(NamedTuple):
    """Display transform of a video's stored pictures: stretch, then mirror left to right, then turn."""

    stretch: float = 1.0
    """Width of a pixel over its height."""
    mirrored: bool = False
    turns: int = 0
    """Quarter turns counter-clockwise."""


class TimedFrame(NamedTuple):
    """A decoded frame on the screen during [time, until), in seconds of the player's clock."""

    time: float
    until: float
    frame: av.VideoFrame
    view: View


class Decoder:
    """Iterates over the frames of one video; `damage` counts decoding failures so far.

    A packet that does not decode is skipped and counted, and decoding resumes after it; if the container itself breaks
    off, the video ends there. Frames without a timestamp, or with one that does not increase, follow the frame before
    them at the nominal rate.

    The caller may raise `needed` (seconds) to skip frames that end before it. If the container's index has a key frame
    in between, decoding resumes there; if it lists frames without gaps, those without dependent frames are skipped. The
    remaining frames, and the one at `needed`, are unchanged.
    """

    def __init__(self, path: str | os.PathLike[str], container: InputContainer):
        self.path, self.damage, self.needed = str(path), 0, 0.0
        self._container = container
        # A cover picture looks like a video stream.
        streams = [each for each in container.streams.video if not each.disposition & Disposition.attached_pic]
        self.streams = len(streams)
        # Players show the default stream, or the first one.
        stream = next((each for each in streams if each.disposition & Disposition.default), next(iter(streams), None))
        if stream is None:
            raise VideoError("no-video-stream", path, "holds no video stream")
        # Formats without a pixel decoder, such as SVG, and unknown codecs.
        if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison] (against PyAV's annotation)
            raise VideoError("no-decoder", path, "its codec cannot be decoded")
        self.stream = stream
        self.stream.codec_context.thread_count = 1  # best for throughput, because shards run in parallel
        rate = self.stream.average_rate or self.stream.guessed_rate
        self.nominal_rate = float(rate) if rate and 0 < rate < 1000 else FALLBACK_RATE
        self._origin = second_zero(container, stream)  # stamp of the player's second 0; None: the first frame's
        self._first = 0.0  # time of the first frame
        self._reached = 0.0  # time of the packet read last, in seconds
        self._last: float = -math.inf  # stamp of the last returned frame, in ticks
        self._from = -math.inf  # frames with earlier stamps, in ticks, are dropped after a jump
        self._tried = 0.0  # time of the last attempted jump
        self._stamped = True  # whether every frame so far had a stamp; without, no frame is skipped
        self._skipping = False  # whether frames without dependent frames are skipped
        self._landed = False  # whether the next frame is the first one after a jump
        self._index: _Index | None = None  # read on first use

    @property
    def mp4(self) -> bool:
        """Return whether the container is of the MP4 family."""
        return "mp4" in self._container.format.name.split(",")

    @property
    def claimed_end(self) -> float:
        """Time at which the picture ends by the container's header, 0 without a claim."""
        base = self.stream.time_base
        of_stream = _seconds(self.stream.duration, base)
        if of_stream is not None:
            return of_stream + (_seconds(self.stream.start_time, base) or 0.0) - (self._origin or 0.0)
        if tag := _TAG.match(self.stream.metadata.get("DURATION", "")):  # Matroska's, of one stream
            hours, minutes, seconds = map(float, tag.groups())
            return 3600 * hours + 60 * minutes + seconds - (self._origin or 0.0)
        return (self._container.duration or 0) / av.time_base

    def last_end(self) -> float:
        """Time at which the last frame is off the screen, from packets near the end alone, without decoding.

        Call it last: no frame can be read afterwards.
        """
        base, size, entries = self.stream.time_base, os.path.getsize(self.path), self.stream.index_entries
        at = (self.claimed_end + (self._origin or 0.0)) / (base or 1)
        # A file may end before its index does, such as half a download.
        at = min((entry.timestamp for entry in entries if entry.pos + entry.size > size), default=at)
        last, length = -math.inf, 0.0
        for stamp in (round(at), 0):  # from the start if a container is not seekable
            with contextlib.suppress(FFmpegError, OSError):
                self._container.seek(stamp, stream=self.stream)
            with contextlib.suppress(FFmpegError, OSError):
                for packet in self._container.demux(self.stream):
                    if packet.size and not packet.is_discard and self._time_of(packet) > last:
                        last, length = self._time_of(packet), _seconds(packet.duration, base) or 0.0
            if last >= 0:
                return self.end_of(last, length)
        return self.claimed_end

    def end_of(self, time: float, length: float) -> float:
        """The time at which a video's last frame, shown at `time` for `length` seconds by its stamp, is off the screen.

        That stamp is the least reliable of all, as broken muxers write minutes there: a long one must match the header.
        """
        frame = 1 / self.nominal_rate
        usual = 0 < length < USUAL_FRAMES * frame
        return time + (length if usual or (length > 0 and abs(time + length - self.claimed_end) < frame) else frame)

    def __iter__(self) -> Iterator[TimedFrame]:
        # Ticks are the stream's: frames given out at the end of the stream do not say so themselves.
        base, origin, time, view = self.stream.time_base, 0.0, 0.0, View()
        previous: av.VideoFrame | None = None
        for frame in self._frames():
            stamp = _seconds(frame.pts, base)
            if previous is None:
                origin = self._origin if self._origin is not None else stamp or 0.0
                self._origin = origin = origin if stamp is None else min(origin, stamp)
                self._first = time = 0.0 if stamp is None else stamp - origin
                view = _view(frame, self.stream)
            elif self._landed and stamp is not None:  # without a stamp it was dropped
                self._landed, time = False, stamp - origin
            else:
                at = time if stamp is None else stamp - origin
                until = at if at > time else time + 1 / self.nominal_rate
                yield TimedFrame(time, until, previous, view)
                time = until
            previous = frame
        if previous is None:
            raise VideoError("no-frames", self.path, "no frame could be decoded")
        yield TimedFrame(time, self.end_of(time, _seconds(previous.duration, base) or 0.0), previous, view)

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
                if self._landed and (not frame.key_frame or self._time_of(frame) > self.needed + SAME):
                    self._undo_jump()
                    break
                self.damage += frame.is_corrupt
                self._stamped = self._stamped and frame.pts is not None
                self._last = self._last if frame.pts is None else frame.pts
                yield frame

    def _packets(self) -> Iterator["av.Packet[av.VideoStream] | None"]:
        """Packets of the stream and then None, which makes the decoder release its remaining frames."""
        self._demuxed = self._container.demux(self.stream)
        while True:
            try:
                if self.needed > max(self._reached + MARGIN, self._tried) and self._last > -math.inf:
                    self._tried = self.needed
                    self._jump(self._origin or 0.0)
                packet = next(self._demuxed)
            except StopIteration:
                break
            except (FFmpegError, OSError):
                self.damage += 1
                break
            if packet.size:
                time = self._time_of(packet)
                self._reached = max(self._reached, time)
                self._decode_all(
                    time >= self.needed - MARGIN or self._index is None or time >= self._index.last - MARGIN
                )
                yield packet
        yield None

    def _decode_all(self, everything: bool) -> None:
        """Switch between decoding all frames and only those with dependent frames."""
        skip = not everything and self._stamped and self._index is not None and self._index.dense
        if skip != self._skipping:
            self._skipping = skip
            self.stream.codec_context.skip_frame = "NONREF" if skip else "DEFAULT"

    def _time_of(self, packet: "av.Packet[av.VideoStream] | av.VideoFrame") -> float:
        stamp = packet.pts if packet.pts is not None else packet.dts
        return (_seconds(stamp, self.stream.time_base) or 0.0) - (self._origin or 0.0)

    def _jump(self, origin: float) -> None:
        """Jump to the last key frame shown by the needed time, unless decoding forward is as good.

        Its packet states its display time; the index alone may be wrong. If it is too late, the previous key frame is
        used.
        """
        if self._index is None:
            has_index = not INDEXED.isdisjoint(self._container.format.name.split(","))
            self._index = _read_index(self.stream, self._first) if has_index else NO_INDEX
        first = bisect.bisect_right(self._index.keys, self._reached + MARGIN)
        last = bisect.bisect_right(self._index.keys, self.needed + SAME)
        if first >= last or not self._stamped:
            return
        for time in [self.needed, *self._index.keys[first:last][-2 : -1 - TRIED : -1]]:
            self._container.seek(round((time + origin) / (self.stream.time_base or 1)), stream=self.stream)
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
        """After a jump to another position than the index claimed: decode from the start, and drop the frames already
        returned.

        Later jumps are not tried.
        """
        self._index, self._from, self._landed = NO_INDEX, self._last + 1, False
        self._decode_all(True)
        self._container.seek(0, backward=True)
        self._demuxed = self._container.demux(self.stream)


class _Index(NamedTuple):
    """A container's index: times of key frames (seconds of the player's clock), whether it lists all frames, without
    gaps, and the time of the last one."""

    keys: list[float]
    dense: bool
    last: float


NO_INDEX = _Index([], dense=False, last=-math.inf)


def _read_index(stream: av.VideoStream, first: float) -> _Index:
    """The index of a stream whose first frame is shown at `first`; it may be empty.

    It has decoding times, which precede display times: the offset at the start is assumed for all.
    """
    begin = min((entry.timestamp for entry in stream.index_entries if not entry.is_discard), default=0)
    entries = sorted((entry.timestamp - begin, entry.is_keyframe) for entry in stream.index_entries)
    times = [(_seconds(ticks, stream.time_base) or 0.0) + first for ticks, _ in entries]
    keys = [time for time, (_, key) in zip(times, entries) if key]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    dense = bool(gaps) and max(gaps) < MARGIN / 2
    return _Index(keys if len(keys) > 1 else [], dense, max(times, default=-math.inf))


def second_zero(container: InputContainer, stream: av.VideoStream | av.AudioStream) -> float | None:
    """Stamp in seconds of the player's start: the start of picture or sound, whichever is earlier.

    None if `stream` has no start time. Sound before 0 is an encoder's delay, which players skip.
    """
    own = _seconds(stream.start_time, stream.time_base)
    if own is None:
        return None
    starts = [own]
    for other in (*container.streams.video, *container.streams.audio):
        start = _seconds(other.start_time, other.time_base)
        if start is not None and not other.disposition & Disposition.attached_pic:
            starts.append(max(start, min(own, 0.0)))
    return min(starts)


def _view(frame: av.VideoFrame, stream: av.VideoStream) -> View:
    """Display transform of the pictures of a stream, of which `frame` is the first."""
    ratio = float(stream.sample_aspect_ratio or 1)
    stretch = ratio if abs(ratio - 1) > SQUARE and 0.1 < ratio < 10 else 1.0
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return View(stretch)
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    mirrored = bool(a * d < b * c)
    turns = round(math.atan2(b, -a) / (math.pi / 2)) if mirrored else round(math.atan2(-b, a) / (math.pi / 2))
    return View(stretch, mirrored, turns % 4)


def _seconds(ticks: int | None, base: Fraction | None) -> float | None:
    return None if ticks is None or not base else ticks * base.numerator / base.denominator


@contextlib.contextmanager
def open_video(path: str | os.PathLike[str]) -> Generator[Decoder]:
    """Open a video for one forward decode. Raises VideoError for an unusable file."""
    path = Path(path)
    _check_file(path)
    try:
        # "file:" and the whitelist keep names and playlists from reaching the network or other protocols.
        container = av.open(f"file:{path}", options={"protocol_whitelist": "file"})
    except (FFmpegError, OSError, ValueError) as error:
        raise VideoError("not-a-video", path, f"cannot be opened as a video: {error}") from None
    with container:
        yield Decoder(path, container)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise VideoError("missing-file", path, "no such file")
    if not path.is_file():
        raise VideoError("not-a-file", path, "is not a regular file")
    if not os.access(path, os.R_OK):
        raise VideoError("unreadable-file", path, "may not be read")
    if path.stat().st_size == 0:
        raise VideoError("empty-file", path, "is empty")


def upright_size(timed: TimedFrame) -> tuple[int, int]:
    """Displayed height and width of a frame, in square pixels."""
    height, width = timed.frame.height, max(1, round(timed.frame.width * timed.view.stretch))
    return (width, height) if timed.view.turns % 2 else (height, width)


def frame_array(timed: TimedFrame, size: Size = None) -> np.ndarray:
    """uint8 RGB [H, W, 3], as players show it, scaled by area averaging to `size` if given."""
    height, width = upright_size(timed) if size is None else (size, size) if isinstance(size, int) else size
    view = timed.view
    array = stored_array(timed.frame, "rgb24", (width, height) if view.turns % 2 else (height, width))
    if view.mirrored:
        array = array[:, ::-1]
    return np.ascontiguousarray(np.rot90(array, view.turns)) if view.mirrored or view.turns else array


def stored_array(frame: av.VideoFrame, pixels: str, size: tuple[int, int] | None = None) -> np.ndarray:
    """uint8 [H, W, 3] as stored, without stretching or turning; `pixels` is rgb24 or bgr24, `size` (height, width).

    Pictures in HDR (PQ, HLG) become BT.709.
    """
    if not hasattr(_converter, "reformat"):
        _converter.reformat = VideoReformatter().reformat
    height, width = size or (frame.height, frame.width)
    method = "BILINEAR" if (height, width) == (frame.height, frame.width) else "AREA"
    # One converter for all frames and one thread: setting either up costs more than the conversion of a small frame.
    colours = TO_SDR if frame.color_trc in HDR else {}
    plane = _converter.reformat(frame, width, height, pixels, interpolation=method, threads=1, **colours).planes[0]
    # No copy where the plane's rows are not padded: its memory stays alive with the array.
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[:height, : 3 * width]
    return np.ascontiguousarray(rows.reshape(height, width, 3))
