"""Decord as a second reader behind the contract of `decode.Decoder`: the same frames at the same times.

Not the default: `benchmarks/video.py` finds it slower than PyAV for all frames, for few frames of a long file and for a
short span. It reads MP4 files only, because in other containers it silently shows a neighbouring frame in place of a
damaged one, and of them only those whose pictures are shown without a transform and whose edit list hides no frame. If
it fails within an MP4 file, PyAV, which skips and counts damaged frames, continues from there with a warning.
"""

import contextlib
import logging
import math
import os
from collections.abc import Generator, Iterator
from typing import Any

import av
import numpy as np

from verified.errors import InputError
from verified.io.video.decode import HDR, Decoder, TimedFrame, View, open_video
from verified.io.video_reader import READER

log = logging.getLogger("verified")


@contextlib.contextmanager
def open_reader(path: str | os.PathLike[str]) -> "Generator[Decoder | DecordDecoder]":
    """`open_video`, with the reader in the environment variable `READER` (pyav, decord; default pyav)."""
    with open_video(path) as decoder:
        if os.environ.get(READER) != "decord" or not decoder.mp4:
            yield decoder
            return
        with open_video(path) as look:
            first = next(iter(look))
        hidden = any(entry.is_discard for entry in decoder.stream.index_entries)
        suits = first.view == View() and first.frame.color_trc not in HDR and not hidden
        yield DecordDecoder(decoder, first.time) if suits else decoder


class DecordDecoder:
    """Iterates over the frames of the video of `decoder` as it does, and honours `needed`.

    `first` is the time of the first frame in seconds.
    """

    def __init__(self, decoder: Decoder, first: float):
        self._decoder, self._first = decoder, first
        self.needed = 0.0

    def __iter__(self) -> Iterator[TimedFrame]:
        try:
            import decord  # pyright: ignore[reportMissingTypeStubs] (it has none)
        except ImportError:
            raise InputError(
                "video_reader is decord, which is not installed", remedy="pip install decord, or video_reader: pyav"
            ) from None
        decord.logging.set_level(decord.logging.FATAL)
        number, latest = 0, -math.inf
        try:
            reader: Any = decord.VideoReader(self._decoder.path, num_threads=1)
            stamps = np.asarray(reader.get_frame_timestamp(range(len(reader))), np.float64)  # [frames, 2] start and end
            starts = (stamps[:, 0] - stamps[0, 0]).round(6) + self._first  # float32 in the library
            end = self._decoder.end_of(float(starts[-1]), float(stamps[-1, 1] - stamps[-1, 0]))
            ends = np.append(starts[1:], end)
            while number < len(starts):
                image = reader[number].asnumpy()
                latest = float(starts[number])
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                yield TimedFrame(latest, float(ends[number]), frame, View())
                on_screen = int(np.searchsorted(ends, self.needed, side="right"))  # after the end, the last frame is
                number = max(number + 1, min(on_screen, len(starts) - 1))
            return
        except (RuntimeError, decord.DECORDError, IndexError):
            log.warning("%s: decord cannot decode all of it; PyAV continues", self._decoder.path)
        for timed in self._decoder:
            self._decoder.needed = self.needed
            if timed.time > latest + 1e-6:
                yield timed
