"""Video features: frames at a fixed rate, encoded, max-pooled per clip (supplement B.1)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from verified.config.features import VideoFeatures
from verified.features.backbones import Backbone, load_backbone
from verified.io.hdf5 import write_features
from verified.io.video import VideoError, iterate_frames
from verified.runtime.prefetch import prefetch
from verified.runtime.progress import Progress

log = logging.getLogger("verified")


def write_video_features(
    videos: list[dict],
    settings: VideoFeatures,
    clip_seconds: float,
    output: str | Path,
    weights: tuple[str, str] | None = None,
) -> dict[str, int]:
    """Write one shard of video features, float16 [clips, dim] per video; returns counts by outcome.

    `videos` are rows of videos.jsonl; `weights`, where the backbone was fetched, says what to load and at which commit.
    A clip is `clip_seconds` long and the last one may be shorter; clip i pools the frames on the screen at the
    multiples of 1/fps in [i, i + 1) · clip_seconds. Each data set carries the video's sha256. A video that cannot be
    read is logged, counted by reason and left out.
    """
    source, commit = weights or (settings.video_backbone, "")
    backbone = load_backbone(source, settings.precision)
    attributes = {
        "backbone": settings.video_backbone,
        **({"revision": commit} if commit else {}),
        "dim": backbone.dim,
        "fps": settings.fps,
        "clip_seconds": clip_seconds,
    }
    counts = {"ok": 0}
    digests = {row["video"]: row["sha256"] for row in videos}

    def items() -> Iterator[tuple[str, np.ndarray, dict]]:
        for video, features in encode_videos(videos, backbone, settings.fps, clip_seconds, settings.batch, counts):
            yield video, features.astype(np.float16), {"sha256": digests[video]}

    counts["ok"] = write_features(output, attributes, items())
    log.info("video features: %s", ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts


def encode_videos(
    videos: list[dict], backbone: Backbone, fps: float, clip_seconds: float, batch: int, failed: dict[str, int]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (video, float32 [clips, dim]); batches of `batch` frames run across the borders of videos.

    The next batches are decoded while one is encoded. Reasons of unreadable videos are counted in `failed`.
    """
    progress = Progress("video features", len(videos), "videos")
    open_clips: dict[str, list[np.ndarray]] = {}
    for frames, clip_keys, finished in prefetch(_batches(videos, backbone, fps, clip_seconds, batch, failed)):
        if clip_keys:
            for (video, clip), feature in zip(clip_keys, backbone(np.stack(frames)), strict=True):
                clips = open_clips.setdefault(video, [])
                if clip == len(clips):
                    clips.append(feature.copy())
                else:
                    np.maximum(clips[clip], feature, out=clips[clip])
        for video in finished:
            if video in open_clips:
                yield video, np.stack(open_clips.pop(video))
            progress.step()
    progress.finish()


def _batches(videos, backbone, fps, clip_seconds, batch, failed):
    """Yield (frames, [(video, clip)], videos whose last frame is now out) with at most `batch` frames at a time."""
    frames, clip_keys, finished = [], [], []
    for row in videos:
        try:
            size = _decoded_size(row, backbone)
            for number, (_, frame) in enumerate(iterate_frames(row["path"], fps=fps, size=size)):
                frames.append(_middle_square(frame, backbone.size))
                clip_keys.append((row["video"], int(number / (fps * clip_seconds) + 1e-9)))
                if len(frames) == batch:
                    yield frames, clip_keys, finished
                    frames, clip_keys, finished = [], [], []
        except VideoError as error:
            log.warning("video features: %s", error)
            failed[error.reason] = failed.get(error.reason, 0) + 1
        finished.append(row["video"])
    yield frames, clip_keys, finished


def _decoded_size(row: dict, backbone: Backbone) -> tuple[int, int]:
    """Height and width that frames of a video are decoded to: the square itself, or just covering it."""
    if not backbone.crop:
        return backbone.size, backbone.size
    scale = backbone.size / min(row["height"], row["width"])
    return max(backbone.size, round(row["height"] * scale)), max(backbone.size, round(row["width"] * scale))


def _middle_square(frame: np.ndarray, size: int) -> np.ndarray:
    top, left = (frame.shape[0] - size) // 2, (frame.shape[1] - size) // 2
    return frame[top : top + size, left : left + size]
