"""Video features: frames at a fixed rate, encoded by an image backbone, max-pooled per clip (supplement B.1)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from verified.config.features import PACKAGED, SMALL_RESNET, Features
from verified.demo.pretrained import shipped_backbone
from verified.features.encoders import Backbone, joint_kind, load_joint
from verified.io.hdf5 import FeatureFile, write_features
from verified.io.video import VideoError, iterate_frames
from verified.runtime.previous_output import PreviousOutput
from verified.runtime.processes import prefetch
from verified.runtime.progress import Progress

log = logging.getLogger("verified")


def load_backbone(name: str, precision: str = "float32") -> Backbone:
    """A backbone by its name.

    `small-resnet` is shipped with the workflow, `packaged` and `packaged-joint` with the installed packages; any other
    name is that of an image model (microsoft/resnet-152), a CLIP or a SigLIP on the hub, or of a folder with one.
    """
    if name == SMALL_RESNET:
        name = shipped_backbone()
    if name == PACKAGED:
        from verified.features.packaged import Packaged

        return Packaged(precision)
    if joint_kind(name):
        return load_joint(name, precision)
    from verified.features.hub_models import ImageModel

    return ImageModel(name, precision)


def write_video_features(
    videos: list[dict],
    settings: Features,
    clip_seconds: float,
    output: str | Path,
    weights: tuple[str, str] | None = None,
    maker: str = "",
) -> dict[str, int]:
    """Write one shard of video features, float16 [clips, dim] per video; returns counts by outcome.

    `videos` are rows of videos.jsonl; `weights`, if the backbone was fetched, names its folder and commit. A clip is
    `clip_seconds` long and the last one may be shorter; clip i pools the frames on the screen at the multiples of 1/fps
    in [i, i + 1) · clip_seconds. Each data set carries the video's sha256. A video that cannot be read is logged,
    counted by reason and omitted. With a `maker`, its earlier features of the same videos are copied from the earlier
    shard (see `runtime.previous_output`).
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
    earlier = PreviousOutput(output, maker)
    digests = earlier.reusable(row["sha256"] for row in videos)
    new = [row for row in videos if row["sha256"] not in digests]
    made: dict[str, str] = {}

    def items() -> Iterator[tuple[str, np.ndarray, dict]]:
        encoded = encode_videos(new, backbone, settings.fps, clip_seconds, settings.batch, counts)
        coming = next(encoded, None)
        for row in videos:
            video, digest = row["video"], row["sha256"]
            if digest in digests:
                features = before.read_stored(earlier.videos[digest])
            elif coming and coming[0] == video:
                features, coming = coming[1].astype(np.float16), next(encoded, None)
            else:  # it cannot be read
                continue
            made[digest] = video
            yield video, features, {"sha256": digest}

    before = FeatureFile(earlier.file or "")
    counts["ok"] = write_features(output, attributes, items())
    before.close()
    earlier.keep(made)
    log.info("video features: %s", ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts


def encode_videos(
    videos: list[dict], backbone: Backbone, fps: float, clip_seconds: float, batch: int, failed: dict[str, int]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (video, float32 [clips, dim]); a batch holds at most `batch` frames, all of one video.

    So a video's features depend on no other video, and do not change when its shard grows. The next batches are decoded
    while one is encoded. Reasons of unreadable videos are counted in `failed`.
    """
    progress = Progress("video features", len(videos), "videos")
    pooled: list[np.ndarray] = []
    for video, frames, clips, last in prefetch(_batches(videos, backbone, fps, clip_seconds, batch, failed)):
        for clip, feature in zip(clips, backbone(np.stack(frames)) if frames else (), strict=True):
            if clip == len(pooled):
                pooled.append(feature.copy())
            else:
                np.maximum(pooled[clip], feature, out=pooled[clip])
        if last:
            if pooled:
                yield video, np.stack(pooled)
            pooled = []
            progress.step()
    progress.finish()


def _batches(videos, backbone, fps, clip_seconds, batch, failed):
    """Yield (video, frames, clips that they are in, whether they are its last), at most `batch` frames at a time."""
    for row in videos:
        frames, clips = [], []
        try:
            size = _decoded_size(row, backbone)
            for number, (_, frame) in enumerate(iterate_frames(row["path"], fps=fps, size=size)):
                if len(frames) == batch:
                    yield row["video"], frames, clips, False
                    frames, clips = [], []
                frames.append(_middle_square(frame, backbone.size))
                clips.append(int(number / (fps * clip_seconds) + 1e-9))
        except VideoError as error:
            log.warning("video features: %s", error)
            failed[error.reason] = failed.get(error.reason, 0) + 1
        yield row["video"], frames, clips, True


def _decoded_size(row: dict, backbone: Backbone) -> tuple[int, int]:
    """Height and width that frames of a video are decoded to: the square itself, or just covering it."""
    if not backbone.crop:
        return backbone.size, backbone.size
    scale = backbone.size / min(row["height"], row["width"])
    return max(backbone.size, round(row["height"] * scale)), max(backbone.size, round(row["width"] * scale))


def _middle_square(frame: np.ndarray, size: int) -> np.ndarray:
    top, left = (frame.shape[0] - size) // 2, (frame.shape[1] - size) // 2
    return frame[top : top + size, left : left + size]
