"""Hashes of whole videos, by which copies are found across splits."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cv2

from verified.io.video import VideoError, read_frames
from verified.io.video.spans import uniform_times
from verified.quality.repeats import HASHED_FRAMES, hash_frames
from verified.runtime.progress import track


def hash_videos(videos: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Name and hash, as of `quality.repeats`, of each video that can be read: of frames in the middle of its parts.

    `videos` are rows with video, path and duration (seconds).
    """
    videos = list(videos)
    for row in track(videos, "hash", len(videos), "videos"):
        try:
            frames, _ = read_frames(row["path"], uniform_times(0, row["duration"], HASHED_FRAMES))
        except VideoError:
            continue
        yield row["video"], hash_frames([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames])
