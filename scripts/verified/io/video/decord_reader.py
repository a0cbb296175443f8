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
def open_reader(path: str | os.PathLike[str], threads: int = 1) -> "Generator[Decoder | DecordDecoder]":
    """`open_video`, with the reader in the environment variable `READER` (pyav, decord; default pyav)."""
    with open_video(path, threads) as decoder:
        if os.environ.get(READER) != "decord" or not decoder.mp4:
            yield decoder
            return
        with open_video(path, threads) as look:
            first = next(iter(look))
        hidden = any(entry.is_discard for entry in decoder.stream.index_entries)
        suits = first.view == View() and first.frame.color_trc not in HDR and not hidden
        yield DecordDecoder(path, decoder, first.time, threads) if suits else decoder


class DecordDecoder:
    """Iterates over the frames of one video as `Decoder` does, and honours `needed`; `decoder` opened the same file.

    `first` is the time of the first frame in seconds.
    """

    def __init__(self, path: str | os.PathLike[str], decoder: Decoder, first: float, threads: int):
        try:
            import decord  # pyright: ignore[reportMissingTypeStubs] (it has none)
        except ImportError:
            raise InputError(
                "video_reader is decord, which is not installed", remedy="pip install decord, or video_reader: pyav"
            ) from None
        decord.logging.set_level(decord.logging.FATAL)
        self._path, self._decoder, self._failure = str(path), decoder, decord.DECORDError
        self.needed = 0.0
        self._reader: Any  # decord.VideoReader, or None
        try:
            self._reader = decord.VideoReader(str(path), num_threads=threads)
            stamps = _stamps(self._reader)
        except (RuntimeError, decord.DECORDError):
            self._reader, stamps = None, np.zeros((0, 2))
            self._warn()
        starts = (stamps[:, 0] - stamps[:1, 0]).round(6) + first  # float32 in the library
        ends = [decoder.end_of(float(starts[-1]), float(stamps[-1, 1] - stamps[-1, 0]))] if len(stamps) else []
        self._starts, self._ends = starts, np.append(starts[1:], ends)

    @property
    def damage(self) -> int:
        """Decoding failures so far, by PyAV's count."""
        return self._decoder.damage

    def _warn(self) -> None:
        log.warning("%s: decord cannot decode all of it; PyAV continues", self._path)

    def __iter__(self) -> Iterator[TimedFrame]:
        number, latest = 0, -math.inf
        while self._reader is not None and number < len(self._starts):
            try:
                image = self._reader[number].asnumpy()
            except (RuntimeError, self._failure, IndexError):
                self._warn()
                break
            latest = float(self._starts[number])
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            yield TimedFrame(latest, float(self._ends[number]), frame, View())
            shown = int(np.searchsorted(self._ends, self.needed, side="right"))  # after the end, the last frame is
            number = max(number + 1, min(shown, len(self._starts) - 1))
        else:
            if len(self._starts):
                return
        for timed in self._decoder:
            self._decoder.needed = self.needed
            if timed.time > latest + 1e-6:
                yield timed


def _stamps(reader: Any) -> np.ndarray:
    """Start and end of each frame in seconds, float64 [frames, 2]."""
    return np.asarray(reader.get_frame_timestamp(range(len(reader))), np.float64)
