"""Short MP4 files of moments: for pages that people watch, and for exports."""

# PyAV leaves the type of packets open.
# pyright: reportUnknownMemberType=false

import io
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.codec.context import Flags

from verified.errors import InputError
from verified.io.video.decode import VideoError, frame_array, open_video, upright_size

_CLOCK = 90_000  # ticks a second, the usual clock of video
FAST = {"crf": "26", "preset": "veryfast", "threads": "1"}
"""Encoder options for files that are shown once."""
REPEATABLE = {**FAST, "x264-params": "no-asm=1"}
"""Plain C, at 2.4 times the cost: x264's assembler paths give other bytes on other processors, and now and then in one
process."""


class Clip:
    """One H.264 file in memory; frames are added with the seconds since the clip's start at which they appear."""

    def __init__(self, height: int, width: int, fps: Fraction, options: Mapping[str, str] = REPEATABLE):
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4", options={"fflags": "+bitexact"})
        self._stream = self._container.add_stream("libx264", rate=fps, options=dict(options))
        self._stream.height, self._stream.width = height, width
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, _CLOCK)
        self._stream.codec_context.flags |= Flags.bitexact
        self._fps, self._last, self._image = fps, -1, None

    def add(self, seconds: float, image: np.ndarray) -> None:
        """Add one RGB image [height, width, 3]."""
        picture = av.VideoFrame.from_ndarray(image, format="rgb24")
        self._last, self._image = max(self._last + 1, round(seconds * _CLOCK)), image
        picture.pts, picture.time_base = self._last, Fraction(1, _CLOCK)
        self._container.mux(self._stream.encode(picture))

    def finish(self, end: float) -> bytes:
        """Finish the file and return it; the last image remains until `end`, in seconds since the clip's start."""
        frame = float(1 / self._fps)
        if self._image is not None and end - frame > self._last / _CLOCK + frame:
            self.add(end - frame, self._image)
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._file.getvalue()


def cut(
    path: str | Path, spans: Mapping[int, tuple[float, float]], side: int, options: Mapping[str, str] = REPEATABLE
) -> dict[int, bytes]:
    """MP4 bytes of each span (start, end in seconds) of a video, from one decode; its first frame also fills any time
    before it.

    Raises InputError for a video that cannot be read and for a span without a frame.
    """
    open_clips: dict[int, Clip] = {}
    encoded: dict[int, bytes] = {}
    until = None
    try:
        with open_video(path) as decoder:
            fps = Fraction(decoder.nominal_rate).limit_denominator(1001)
            decoder.needed = min((start for start, _ in spans.values()), default=0.0)
            for timed in decoder:
                time, until, image = timed.time if until else -math.inf, timed.until, None
                for name, (start, end) in spans.items():
                    if time < end and until > start:
                        if image is None:
                            image = frame_array(timed, _size(*upright_size(timed), side))
                        if name not in open_clips:
                            open_clips[name] = Clip(image.shape[0], image.shape[1], fps, options)
                        open_clips[name].add(max(0.0, time - start), image)
                for name in [name for name in open_clips if until >= spans[name][1]]:
                    encoded[name] = open_clips.pop(name).finish(spans[name][1] - spans[name][0])
                if len(encoded) == len(spans):
                    break
    except VideoError as error:
        raise InputError(error.detail, file=path, remedy="clips are cut from the corpus's videos") from None
    encoded |= {name: clip.finish((until or 0.0) - spans[name][0]) for name, clip in open_clips.items()}
    for name, (start, end) in spans.items():
        if name not in encoded:
            raise InputError(f"no frame between {start} s and {end} s for moment {name}", file=path)
    return encoded


def _size(height: int, width: int, side: int) -> tuple[int, int]:
    """Height and width with the longest side at most `side`, both even, as H.264 requires."""
    longest = max(height, width)
    scale = min(side, longest) / longest
    return max(2, 2 * round(height * scale / 2)), max(2, 2 * round(width * scale / 2))


def clips_of(
    spans: Iterable[tuple[int, str, float, float]], videos: Iterable[Mapping[str, Any]], side: int
) -> dict[int, bytes]:
    """MP4 bytes by the number of each span (number, video, start, end; seconds); each video is decoded once.

    `videos` are rows of videos.jsonl. Raises InputError for a video that is not among them, and as `cut` does.
    """
    paths = {row["video"]: row["path"] for row in videos}
    by_video: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    for number, video, start, end in spans:
        by_video[video][number] = start, end
    if missing := sorted(by_video.keys() - paths.keys()):
        raise InputError(f"video {missing[0]} is not in the corpus", remedy="build the annotations again")
    clips: dict[int, bytes] = {}
    for video, own in by_video.items():
        clips |= cut(paths[video], own, side)
    return clips
