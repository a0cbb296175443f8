"""Thumbnails of a video: JPEG files of frames at equal distances."""

import io
import logging
from pathlib import Path

import numpy as np
from PIL import Image

from verified.io.video import VideoError, read_frames

log = logging.getLogger("verified")

HEIGHT = 96
"""Pixels."""


def thumbnails(path: str | Path, duration: float, width: int, height: int, count: int) -> list[tuple[float, bytes]]:
    """(seconds, JPEG) at the middles of `count` equal parts of a video, fewer if it has fewer seconds.

    An unreadable video has none but has vectors; the log reports it.
    """
    count = min(count, max(1, round(duration)))
    if not count:
        return []
    times = (np.arange(count) + 0.5) * duration / count
    size = HEIGHT, max(2, round(HEIGHT * width / height))
    try:
        frames, _ = read_frames(path, times, size=size)
    except VideoError as error:
        log.warning("thumbnails: %s", error)
        return []
    return [(round(float(time), 2), jpeg(frame)) for time, frame in zip(times, frames)]


def jpeg(frame: np.ndarray) -> bytes:
    """A JPEG file of a frame, uint8 RGB [H, W, 3]."""
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "JPEG", quality=70)
    return out.getvalue()
