"""Keyframes of moments (section 3.1): adaptive content segmentation, the middle frame of each segment."""

import logging
from collections.abc import Sequence
from pathlib import Path

from verified.config.datasets import Keyframes
from verified.io.video import VideoError
from verified.keyframes.archive import KeyframeArchive, encode_jpeg
from verified.keyframes.extract import extract_keyframes
from verified.runtime.progress import track

log = logging.getLogger("verified")

__all__ = ["write_keyframes"]


def write_keyframes(moments: list[dict], videos: list[dict], settings: Keyframes, output: str | Path) -> dict[str, int]:
    """Write the keyframe archive of one shard; returns counts by outcome ("ok" or a reason).

    `moments` are the shard's rows of moments.jsonl, `videos` rows of videos.jsonl (others are ignored). The archive's
    index has one row per moment, in the order of `moments`: desc_id, video, keyframes [{file, time, segment}]
    (seconds), threshold, cuts, and reason: null, or why there are no keyframes (a reason of VideoError, unknown-video,
    or past-the-end), in which case keyframes and cuts are empty and threshold is null.
    """
    paths = {row["video"]: row["path"] for row in videos}
    by_video: dict[str, list[dict]] = {}
    for moment in moments:
        by_video.setdefault(moment["video"], []).append(moment)
    rows: dict[int, dict] = {}
    with KeyframeArchive(output) as archive:
        for video, of_video in track(by_video.items(), "keyframes", len(by_video), "videos"):
            rows.update(_video_rows(video, of_video, paths.get(video), settings, archive))
        archive.write([rows[moment["desc_id"]] for moment in moments])
    counts: dict[str, int] = {}
    for row in rows.values():
        outcome = row["reason"] or "ok"
        counts[outcome] = counts.get(outcome, 0) + 1
    log.info("keyframes: %d moments: %s", len(moments), ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts


def _video_rows(
    video: str, moments: list[dict], path: str | None, settings: Keyframes, archive: KeyframeArchive
) -> dict:
    """Index rows by desc_id of one video's moments; their images go into the archive."""
    rows = {moment["desc_id"]: _row(moment, reason="past-the-end") for moment in moments}
    try:
        if path is None:
            raise VideoError("unknown-video", video, "is not in videos.jsonl")
        extracted = extract_keyframes(
            path,
            [(moment["start"], moment["end"]) for moment in moments],
            settings.segments,
            settings.threshold,
            settings.min_scene_seconds,
        )
        for index, result in extracted:
            if result.keyframes:
                moment = moments[index]
                rows[moment["desc_id"]] = row = _row(moment, None, result.cuts, result.threshold)
                for number, keyframe in enumerate(result.keyframes):
                    name = f"{moment['desc_id']}/{number}.jpg"
                    archive.add(name, encode_jpeg(keyframe.image))
                    segment = [round(edge, 6) for edge in keyframe.segment]
                    row["keyframes"].append({"file": name, "time": round(keyframe.time, 6), "segment": segment})
    except VideoError as error:
        log.warning("keyframes: %s", error)
        return {moment["desc_id"]: _row(moment, error.reason) for moment in moments}
    return rows


def _row(moment: dict, reason: str | None, cuts: Sequence[float] = (), threshold: float | None = None) -> dict:
    return {
        "desc_id": moment["desc_id"],
        "video": moment["video"],
        "keyframes": [],
        "threshold": threshold,
        "cuts": [round(cut, 6) for cut in cuts],
        "reason": reason,
    }
