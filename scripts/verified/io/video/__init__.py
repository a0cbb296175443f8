"""Video reading: one decode for any number of spans, frames with their true times; a file's true properties.

Conventions of the whole package:

- Times are seconds of the player's clock: second 0 is where picture or sound begins, whichever is earlier. A frame is
  on the screen from its time until the next frame's; the last one until the end that the container states.
- "The frame at time t" is the one on the screen at t. A frame counts as shown up to `TOLERANCE` (1 ms) before its time,
  because containers round timestamps to as little as 1 ms; that is the only rounding.
- Spans are half-open, [start, end). Frames are uint8 RGB in square pixels, turned and mirrored by the metadata, HDR
  converted to BT.709.
"""

import os
from typing import Any

from verified.io import files
from verified.io.video.decode import TOLERANCE, VideoError, frame_array, open_video, stored_array, upright_size
from verified.io.video.spans import frames_of_spans, iterate_frames, read_frames

__all__ = [
    "TOLERANCE",
    "VideoError",
    "frame_array",
    "frames_of_spans",
    "iterate_frames",
    "open_video",
    "probe",
    "read_frames",
    "stored_array",
]


MISSING_SECONDS = 1.0
"""Seconds of missing picture, against the header's claim, from which a video counts as broken off."""


def probe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Decode a video once and describe it: the keys of videos.jsonl except `video` and `path`.

    duration (seconds until the last frame is off the screen), fps (frames per second, the mean where it varies), width
    and height (square pixels, upright), frames, sha256 (of the file), rotation (degrees counter-clockwise that were
    applied), codec, and state: "whole", or "partial" where packets were damaged or the video ends before the end that
    its header claims; the other figures then describe the part that decodes. The rest of the header is ignored. Raises
    VideoError, with a reason, for a file without a usable frame.
    """
    with open_video(path) as video:
        frames, times = 0, (0.0, 0.0)
        height = width = rotation = first = 0  # of the first frame; a video without any is an error
        for timed in video:
            if not frames:
                height, width = upright_size(timed)
                rotation, first = 90 * timed.view.turns, timed.time
            frames += 1
            times = timed.time, timed.until
        codec = video.stream.codec_context.name
        nominal, claimed, damaged = video.nominal_rate, video.claimed_end, video.damage > 0
    last, duration = times
    mean = (frames - 1) / (last - first) if frames > 1 else nominal
    return {
        "duration": round(duration, 6),
        "fps": round(nominal if abs(mean - nominal) < 1e-3 * nominal else mean, 6),
        "width": width,
        "height": height,
        "frames": frames,
        "sha256": file_digest(path),
        "rotation": rotation,
        "codec": codec,
        "state": "partial" if damaged or duration < claimed - MISSING_SECONDS else "whole",
    }


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hex. Raises VideoError if the file is missing."""
    try:
        return files.file_digest(path)
    except OSError as error:
        raise VideoError("missing-file", path, f"cannot be read: {error.strerror}") from None
