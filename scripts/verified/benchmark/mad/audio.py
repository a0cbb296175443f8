"""Sound tracks as samples: any file that PyAV reads, mixed to one channel at a low rate."""

import os
import wave
from pathlib import Path

import av
import numpy as np
from av.error import FFmpegError

from verified.errors import InputError
from verified.io.files import atomic_path


def read_track(path: str | os.PathLike, rate: int) -> np.ndarray:
    """Samples of the first sound stream, float32 in [-1, 1], one channel at `rate` a second.

    Raises InputError for a file that is missing, holds no sound, or breaks off before its first sample.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", file=path)
    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                raise InputError("holds no sound stream", file=path)
            resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
            samples = []
            for frame in container.decode(container.streams.audio[0]):
                frame.pts = None
                samples += [out.to_ndarray().ravel() for out in resampler.resample(frame)]
            samples += [out.to_ndarray().ravel() for out in resampler.resample(None)]
    except FFmpegError as error:
        raise InputError(f"cannot be decoded: {error}", file=path) from None
    if not samples or not sum(map(len, samples)):
        raise InputError("holds no sample of sound", file=path)
    return np.concatenate(samples)


def write_wave(path: str | os.PathLike, samples: np.ndarray, rate: int) -> None:
    """Write float samples in [-1, 1] as 16-bit mono WAV."""
    with atomic_path(path) as temporary, wave.open(str(temporary), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
