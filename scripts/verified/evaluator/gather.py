"""The frames of a shard's moments, decoded once and kept as uint8 for training and scoring."""

from pathlib import Path

import numpy as np

from verified.common.files import atomic_path
from verified.common.jsonl import write_jsonl
from verified.common.progress import Progress
from verified.common.video import VideoError, frames_of_spans

TOO_SHORT = "shorter-than-two-frames"
NO_VIDEO = "no-video"
NO_FRAMES = "no-frames-in-moment"


def gather_clips(
    moments: list[dict],
    videos: list[dict],
    frames: int,
    per_interval: int,
    image_size: int,
    array: str | Path,
    index: str,
) -> dict[str, int]:
    """Write uint8 [moments, frames·per_interval, image_size, image_size, 3] (RGB, .npy) and one index row per moment.

    A moment's [start, end) is cut into `frames` equal intervals and each interval into `per_interval` parts, whose
    middle frames are kept. An index row holds desc_id, video, and `reason`: null, or why the moment has no clip (its
    part of the array is black and is never read). Returns the number of moments by reason ("" for usable ones).
    """
    by_video = {video["video"]: video for video in videos}
    rows = [{"desc_id": moment["desc_id"], "video": moment["video"], "reason": None} for moment in moments]
    wanted: dict[str, list[int]] = {}
    for place, moment in enumerate(moments):
        video = by_video.get(moment["video"])
        if video is None:
            rows[place]["reason"] = NO_VIDEO
        elif (moment["end"] - moment["start"]) * video["fps"] < 2 - 1e-6:
            rows[place]["reason"] = TOO_SHORT
        else:
            wanted.setdefault(moment["video"], []).append(place)
    progress = Progress("clips", sum(map(len, wanted.values())), "moments")
    with atomic_path(array) as temporary:
        shape = (len(moments), frames * per_interval, image_size, image_size, 3)
        clips = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.uint8, shape=shape)
        for name, places in wanted.items():
            spans = [(moments[place]["start"], moments[place]["end"]) for place in places]
            seen = set()
            try:
                for span, pictures, _ in frames_of_spans(
                    by_video[name]["path"], spans, count=frames * per_interval, size=image_size
                ):
                    if len(pictures):
                        clips[places[span]] = pictures
                        seen.add(span)
                failure = NO_FRAMES
            except VideoError as error:
                failure = error.reason
            for span, place in enumerate(places):
                if span not in seen:
                    rows[place]["reason"] = failure
            progress.step(len(places))
        clips.flush()
        del clips
    progress.finish()
    write_jsonl(index, rows)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["reason"] or ""] = counts.get(row["reason"] or "", 0) + 1
    return counts


def middle_frames(clips: np.ndarray, frames: int) -> np.ndarray:
    """[..., frames·k, H, W, 3] → [..., frames, H, W, 3]: the middle one of each interval, as UMT samples at test."""
    per_interval = clips.shape[-4] // frames
    return clips[..., per_interval // 2 :: per_interval, :, :, :]


def drawn_frames(clip: np.ndarray, frames: int, generator: np.random.Generator) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, H, W, 3]: one of each interval at random, as UMT samples in training."""
    per_interval = len(clip) // frames
    return clip[np.arange(frames) * per_interval + generator.integers(0, per_interval, frames)]
