"""Read sound tracks as samples: any file that PyAV reads, mixed to one channel at a low rate."""

import io
import math
import os
import wave
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError

from verified.errors import InputError
from verified.io.video.decode import second_zero

SEEK_MARGIN = 1.0
"""Seconds before a needed time at which decoding of a track starts."""


@contextmanager
def open_sound(path: Path) -> Generator[tuple[InputContainer, AudioStream]]:
    """Open a file and its first sound stream. Raises InputError if there is none, or the file breaks off."""
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        # "file:" and the whitelist keep names and playlists from reaching the network or other protocols.
        with av.open(f"file:{path}", options={"protocol_whitelist": "file"}) as container:
            if not container.streams.audio:
                raise InputError("holds no sound stream", file=path)
            yield container, container.streams.audio[0]
    except FFmpegError as error:
        raise InputError(f"cannot be decoded: {error}", file=path) from None


def has_sound(path: str | os.PathLike[str]) -> bool:
    """Return whether a readable file has a sound stream."""
    try:
        with open_sound(Path(path)):
            return True
    except InputError:
        return False


def read_track(path: str | os.PathLike[str], rate: int) -> np.ndarray:
    """Samples of the first sound stream from the player's second 0, float32 in [-1, 1], one channel at `rate` hertz.

    Raises InputError for a file that is missing, holds no sound, or breaks off before its first sample.
    """
    path = Path(path)
    samples: list[np.ndarray] = []
    with open_sound(path) as (container, stream):
        resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
        origin = second_zero(container, stream) or 0.0
        for frame in container.decode(stream):
            if not samples and frame.time is not None:
                samples.append(np.zeros(max(0, round((frame.time - origin) * rate)), np.float32))
            frame.pts = None
            samples += [out.to_ndarray().ravel() for out in resampler.resample(frame)]
        samples += [out.to_ndarray().ravel() for out in resampler.resample(None)]
    if not samples or not sum(map(len, samples)):
        raise InputError("holds no sample of sound", file=path)
    return np.concatenate(samples)


def read_part(path: str | os.PathLike[str], start: float, end: float, rate: int) -> np.ndarray:
    """Samples [round((end - start) * rate)] of [start, end), in seconds of the player's clock.

    Like those of `read_track`, but placed by their time stamps: gaps, late starts and the time after the end are zeros.
    A broken track is silent from the break on. Raises InputError for a file that is missing or has no sound.
    """
    samples = np.zeros(max(1, round((end - start) * rate)), dtype=np.float32)
    with open_sound(Path(path)) as (container, stream):
        origin = second_zero(container, stream) or 0.0
        if start > SEEK_MARGIN:
            container.seek(math.floor((start - SEEK_MARGIN + origin) * av.time_base))
        resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
        at = None  # place of the next sample, in samples from `start`
        try:
            for frame in container.decode(stream):
                if at is None:
                    at = round(((frame.time or 0.0) - origin - start) * rate)
                frame.pts = None
                for out in resampler.resample(frame):
                    at = _place(samples, at, out.to_ndarray().ravel())
                if at >= len(samples):
                    return samples
            for out in resampler.resample(None):
                at = _place(samples, at or 0, out.to_ndarray().ravel())
        except FFmpegError:  # a damaged track counts up to the damage, like a video
            pass
    return samples


def _place(samples: np.ndarray, at: int, piece: np.ndarray) -> int:
    """Copy a piece to a position of `samples`, without its excess; returns the position behind it."""
    first, last = max(at, 0), min(at + len(piece), len(samples))
    if first < last:
        samples[first:last] = piece[first - at : last - at]
    return at + len(piece)


def wave_bytes(samples: np.ndarray, rate: int) -> bytes:
    """A 16-bit mono WAV file of float samples [n] in [-1, 1]."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return out.getvalue()
