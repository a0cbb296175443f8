"""Keyframes of moments (section 3.1): those of one video from one decode, and the archive of a shard.

The archive is one uncompressed tar, index first, the same bytes for the same keyframes (see `archive`).
"""

import io
import json
import logging
import math
import os
import tarfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from verified.config.datasets import Keyframes
from verified.io.files import Spool, atomic_path
from verified.io.video import TOLERANCE, VideoError, frame_array, open_video, read_frames, stored_array
from verified.io.video.decode import TimedFrame
from verified.keyframes.archive import KeyframeTar
from verified.keyframes.segmentation import ContentScore, bounds, segment_moment
from verified.runtime.previous_output import PreviousOutput
from verified.runtime.progress import track

log = logging.getLogger("verified")
PAST_THE_END = "past-the-end"
QUALITY = 90
"""JPEG quality of keyframes (4:4:4, so that small coloured things keep their colour)."""
BUFFER_BYTES = 256 * 2**20
"""Maximal bytes of decoded frames that wait for their moment to end; see `extract_keyframes`."""


class Keyframe(NamedTuple):
    """A frame on the screen at `time`, the middle of `segment` (seconds); image uint8 RGB [H, W, 3]."""

    time: float
    segment: tuple[float, float]
    image: np.ndarray


class MomentKeyframes(NamedTuple):
    """Keyframes of one moment; none if it is beyond the video's end."""

    keyframes: list[Keyframe]
    cuts: list[float]
    threshold: float | None


def extract_keyframes(
    path: str | os.PathLike,
    moments: list[tuple[float, float]],
    segments: int,
    threshold: float,
    min_seconds: float,
    held_bytes: int = BUFFER_BYTES,
) -> Iterator[tuple[int, MomentKeyframes]]:
    """Yield (index, keyframes) of each moment [start, end) (seconds), in the order in which the moments end.

    Scores are computed once per frame. The keyframes are known only when a moment ends, so frames of open moments are
    buffered, at most `held_bytes` of them; keyframes of a moment too long for that are read by one more sparse pass
    over the video, so that memory does not grow with the length of a moment. A moment that ends behind the video's end
    is cut off there. Raises VideoError for an unusable file.
    """
    waiting = sorted(range(len(moments)), key=lambda index: (moments[index][1], index))
    held, largest = deque[TimedFrame](), 0  # the latest frames, undecoded to RGB, and bytes of the largest so far
    late, score, times, scores = [], ContentScore(), [], []

    def finish(index: int, ended: float) -> Iterator[tuple[int, MomentKeyframes]]:
        """Segment a moment on its scores and yield its keyframes, or leave it to the sparse pass."""
        start, end = moments[index][0], min(moments[index][1], ended)
        inside = slice(*np.searchsorted(times, [start - TOLERANCE, end - TOLERANCE]))
        segmented = segment_moment(times[inside], scores[inside], segments, threshold, min_seconds)
        spans = bounds(start, end, segmented.cuts)
        images = [_shown_at(held, (begin + stop) / 2) for begin, stop in spans]
        if any(image is None for image in images):
            late.append((index, spans, segmented))
        else:
            yield index, _pack(spans, images, segmented)

    with open_video(path) as video:
        for timed in video:
            times.append(timed.time)
            scores.append(score(stored_array(timed.frame, "bgr24")))
            oldest = _oldest_needed(moments, waiting, segments)
            while held and held[0].until - TOLERANCE <= oldest:
                held.popleft()
            if timed.until - TOLERANCE > oldest:
                if (size := sum(plane.buffer_size for plane in timed.frame.planes)) > largest:
                    held, largest = deque(held, maxlen=max(1, held_bytes // size)), size
                held.append(timed)
            while waiting and moments[waiting[0]][1] <= timed.until + TOLERANCE:
                yield from finish(waiting.pop(0), math.inf)
            if not waiting:
                break
        ended = timed.until
    for index in waiting:
        if moments[index][0] >= ended - TOLERANCE:
            yield index, MomentKeyframes([], [], None)
        else:
            yield from finish(index, ended)
    if late:
        yield from _read_late(path, late)


def _shown_at(held: Sequence[TimedFrame], time: float) -> np.ndarray | None:
    """The frame on the screen at `time`, or None if it was discarded. The last frame stays on the screen."""
    if not held or (time < held[0].time - TOLERANCE and held[0].time > 0):
        return None
    return frame_array(next((timed for timed in held if time < timed.until - TOLERANCE), held[-1]))


def _oldest_needed(moments, waiting: list[int], segments: int) -> float:
    """Earliest time of which a frame can still become a keyframe; with one segment only middles can."""
    starts = (sum(moments[index]) / 2 if segments == 1 else moments[index][0] for index in waiting)
    return min(starts, default=math.inf)


def _read_late(path, late):
    middles = [(begin + stop) / 2 for _, spans, _ in late for begin, stop in spans]
    images, _ = read_frames(path, middles)
    offset = 0
    for index, spans, segmented in late:
        yield index, _pack(spans, images[offset : offset + len(spans)], segmented)
        offset += len(spans)


def _pack(spans, images, segmented) -> MomentKeyframes:
    keyframes = [Keyframe((begin + stop) / 2, (begin, stop), image) for (begin, stop), image in zip(spans, images)]
    return MomentKeyframes(keyframes, segmented.cuts, segmented.threshold)


def encode_jpeg(image: np.ndarray) -> bytes:
    """JPEG bytes of a uint8 RGB image [H, W, 3]."""
    out = io.BytesIO()
    Image.fromarray(image).save(out, "JPEG", quality=QUALITY, subsampling=0)
    return out.getvalue()


def _write_archive(path: str | Path, rows: list[dict], images: Spool) -> None:
    """Write the tar: `index.jsonl` with `rows`, then the file of each keyframe that a row names."""
    index = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()
    with atomic_path(path) as temporary, tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as tar:
        _add_member(tar, "index.jsonl", index)
        for row in rows:
            for keyframe in row["keyframes"]:
                _add_member(tar, keyframe["file"], images[keyframe["file"]])


def _add_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))


def write_keyframes(
    moments: list[dict], videos: list[dict], settings: Keyframes, output: str | Path, maker: str = ""
) -> dict[str, int]:
    """Write the keyframe archive of one shard; returns counts by outcome ("ok" or a reason).

    `moments` are the shard's rows of moments.jsonl, `videos` rows of videos.jsonl (others are ignored). The archive's
    index has one row per moment, in the order of `moments`: desc_id, video, keyframes [{file, time, segment}]
    (seconds), threshold, cuts, and reason: null, or why there are no keyframes (a reason of VideoError, unknown-video,
    or past-the-end), in which case keyframes and cuts are empty and threshold is null. With a `maker`, its earlier
    keyframes of the same videos and spans are copied (see `runtime.previous_output`).
    """
    described = {row["video"]: row for row in videos}
    by_video: dict[str, list[dict]] = {}
    for moment in moments:
        by_video.setdefault(moment["video"], []).append(moment)
    earlier, rows = PreviousOutput(output, maker), dict[int, dict]()
    keys = {video: _key(described[video], rows) for video, rows in by_video.items() if video in described and maker}
    cached_keys = earlier.reusable(keys.values())
    with Spool(Path(output).parent) as images, KeyframeTar(earlier.file) if earlier.file else nullcontext() as made:
        for video, of_video in track(by_video.items(), "keyframes", len(by_video), "videos"):
            if made and keys.get(video) in cached_keys:
                rows.update(_take_rows(video, of_video, earlier.videos[keys[video]], made, images))
            else:
                rows.update(_video_rows(video, of_video, described.get(video, {}).get("path"), settings, images))
        _write_archive(output, [rows[moment["desc_id"]] for moment in moments], images)
    ids = {video: [moment["desc_id"] for moment in rows] for video, rows in by_video.items()}
    sound = {video for video in keys if all(rows[i]["reason"] in (None, PAST_THE_END) for i in ids[video])}
    earlier.keep({keys[video]: ids[video] for video in keys if video in sound})
    counts = dict(Counter(row["reason"] or "ok" for row in rows.values()))
    log.info("keyframes: %d moments: %s", len(moments), ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts


def _video_rows(video: str, moments: list[dict], path: str | None, settings: Keyframes, images: Spool) -> dict:
    """Index rows by desc_id of one video's moments; their pictures go into `images`."""
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
                    images.add(name, encode_jpeg(keyframe.image))
                    segment = [round(edge, 6) for edge in keyframe.segment]
                    row["keyframes"].append({"file": name, "time": round(keyframe.time, 6), "segment": segment})
    except VideoError as error:
        log.warning("keyframes: %s", error)
        return {moment["desc_id"]: _row(moment, error.reason) for moment in moments}
    return rows


def _key(video: dict, moments: list[dict]) -> str:
    """Inputs that decide the keyframes of a video's moments, besides settings and code."""
    return f"{video['sha256']} {json.dumps([[moment['start'], moment['end']] for moment in moments])}"


def _take_rows(video: str, moments: list[dict], ids: list[int], made: KeyframeTar, images: Spool) -> dict:
    """As `_video_rows`, from the earlier archive, where the moments had the desc_ids `ids`."""
    rows = {}
    for moment, earlier_id in zip(moments, ids, strict=True):
        row = made.rows[earlier_id] | {"desc_id": moment["desc_id"], "video": video}
        names = [_member(moment, number) for number in range(len(row["keyframes"]))]
        for keyframe, name in zip(row["keyframes"], names):
            images.add(name, made.image(keyframe["file"]))
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
