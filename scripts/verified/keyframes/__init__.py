"""Keyframes of moments (section 3.1): adaptive content segmentation, the middle frame of each segment."""

import contextlib
import json
import logging
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from verified.config.datasets import Keyframes
from verified.io.files import open_member
from verified.io.video import VideoError
from verified.keyframes.archive import KeyframeArchive, encode_jpeg
from verified.keyframes.extract import extract_keyframes
from verified.runtime.previous_output import PreviousOutput
from verified.runtime.progress import track

log = logging.getLogger("verified")
PAST_THE_END = "past-the-end"

__all__ = ["write_keyframes"]


def write_keyframes(
    moments: list[dict], videos: list[dict], settings: Keyframes, output: str | Path, maker: str = ""
) -> dict[str, int]:
    """Write the keyframe archive of one shard; returns counts by outcome ("ok" or a reason).

    `moments` are the shard's rows of moments.jsonl, `videos` rows of videos.jsonl (others are ignored). The archive's
    index has one row per moment, in the order of `moments`: desc_id, video, keyframes [{file, time, segment}]
    (seconds), threshold, cuts, and reason: null, or why there are no keyframes (a reason of VideoError, unknown-video,
    or past-the-end), in which case keyframes and cuts are empty and threshold is null. With a `maker`, what it made of
    the same videos and spans is taken from the earlier archive (see `runtime.previous_output`).
    """
    described = {row["video"]: row for row in videos}
    by_video: dict[str, list[dict]] = {}
    for moment in moments:
        by_video.setdefault(moment["video"], []).append(moment)
    earlier, rows = PreviousOutput(output, maker), dict[int, dict]()
    keys = {video: _key(described[video], of) for video, of in by_video.items() if video in described and maker}
    known = earlier.known(keys.values())
    with KeyframeArchive(output) as archive, _open_earlier(earlier) as made:
        for video, of_video in track(by_video.items(), "keyframes", len(by_video), "videos"):
            if made and keys.get(video) in known:
                rows.update(_take_rows(video, of_video, earlier.videos[keys[video]], made, archive))
            else:
                rows.update(_video_rows(video, of_video, described.get(video, {}).get("path"), settings, archive))
        archive.write([rows[moment["desc_id"]] for moment in moments])
    ids = {video: [moment["desc_id"] for moment in of] for video, of in by_video.items()}
    sound = {video for video in keys if all(rows[i]["reason"] in (None, PAST_THE_END) for i in ids[video])}
    earlier.keep({keys[video]: ids[video] for video in keys if video in sound})
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
    rows = {moment["desc_id"]: _row(moment, PAST_THE_END) for moment in moments}
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
                    name = _member(moment, number)
                    archive.add(name, encode_jpeg(keyframe.image))
                    segment = [round(edge, 6) for edge in keyframe.segment]
                    row["keyframes"].append({"file": name, "time": round(keyframe.time, 6), "segment": segment})
    except VideoError as error:
        log.warning("keyframes: %s", error)
        return {moment["desc_id"]: _row(moment, error.reason) for moment in moments}
    return rows


def _key(video: dict, moments: list[dict]) -> str:
    """Inputs that decide the keyframes of a video's moments, besides settings and code."""
    return f"{video['sha256']} {json.dumps([[moment['start'], moment['end']] for moment in moments])}"


@contextlib.contextmanager
def _open_earlier(earlier: PreviousOutput) -> Iterator["_Made | None"]:
    if earlier.file is None:
        yield None
        return
    with tarfile.open(earlier.file) as tar:
        members = {member.name: member for member in tar}
        index = open_member(tar, "index.jsonl").read().decode()
        yield _Made(tar, members, {row["desc_id"]: row for row in map(json.loads, index.splitlines())})


class _Made(NamedTuple):
    """An earlier archive: its members by name, and its rows by desc_id."""

    tar: tarfile.TarFile
    members: dict[str, tarfile.TarInfo]
    rows: dict[int, dict]

    def image(self, name: str) -> bytes:
        return open_member(self.tar, self.members[name]).read()


def _take_rows(video: str, moments: list[dict], ids: list[int], made: _Made, archive: KeyframeArchive) -> dict:
    """As `_video_rows`, from the earlier archive, where the moments had the desc_ids `ids`."""
    rows = {}
    for moment, earlier_id in zip(moments, ids, strict=True):
        row = made.rows[earlier_id] | {"desc_id": moment["desc_id"], "video": video}
        names = [_member(moment, number) for number in range(len(row["keyframes"]))]
        for keyframe, name in zip(row["keyframes"], names):
            archive.add(name, made.image(keyframe["file"]))
        row["keyframes"] = [keyframe | {"file": name} for keyframe, name in zip(row["keyframes"], names)]
        rows[moment["desc_id"]] = row
    return rows


def _member(moment: dict, number: int) -> str:
    return f"{moment['desc_id']}/{number}.jpg"


def _row(moment: dict, reason: str | None, cuts: Sequence[float] = (), threshold: float | None = None) -> dict:
    return {
        "desc_id": moment["desc_id"],
        "video": moment["video"],
        "keyframes": [],
        "threshold": threshold,
        "cuts": [round(cut, 6) for cut in cuts],
        "reason": reason,
    }
