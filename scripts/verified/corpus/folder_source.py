"""The source `folder`: a folder of videos and a moments file become a corpus. The rendered demo is read the same way.

What is wrong with a whole file is an InputError (see `moments_file`, `video_folder`; also a corpus without a single
usable moment). What is wrong with a row or a video is an exclusion with a reason, one per row and one per unused video:

- rows: the reasons of `moment_checks`; `invalid-video-id`, `unknown-video`, `ambiguous-video`, `outside-folder`,
  `not-a-file`; `unreadable-video` where the file does not decode;
- videos (exclusions without a row): `invalid-video-id`, `outside-folder`, `not-a-file`, the reasons of
  `common.video.VideoError`, and `no-usable-moments`.

Ends after the video's end are clamped and counted. Rows of the file = moments + exclusions with a row; videos in the
folder = rows of videos.jsonl + exclusions without a row. The same video under two names is two videos, and counted.
Where no row gives a `desc_id`, it is the row's position in the file, counted from 1: an exclusion shifts no other id.
A given `duration` is not believed: the decoded one is used.
"""

import os
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from verified.common.errors import InputError
from verified.common.progress import track
from verified.common.shards import shard_of
from verified.common.video import VideoError, probe
from verified.corpus import moment_checks
from verified.corpus.moment_checks import RowRefused
from verified.corpus.moments_file import iterate_moments_file, read_moments_file
from verified.corpus.video_folder import NameRefused, VideoFolder


class Corpus(NamedTuple):
    """The rows of moments.jsonl, videos.jsonl and exclusions.jsonl, and the object of counts.json."""

    moments: list[dict]
    videos: list[dict]
    exclusions: list[dict]
    counts: dict


class Probes(NamedTuple):
    """Of videos by id: their rows of videos.jsonl without id and path, and why the others cannot be read."""

    readable: dict[str, dict]
    unreadable: dict[str, VideoError]


class Shard(NamedTuple):
    """The moments and videos of one shard, as the whole corpus will hold them (splits apart), and all its probes."""

    moments: list[dict]
    videos: list[dict]
    probes: Probes


def read_shard(
    videos: str | os.PathLike,
    moments: str | os.PathLike,
    default_split: str,
    shard: int,
    shards: int,
    threads: int = 1,
    published: bool = False,
) -> Shard:
    """Probe the used videos of one shard of a folder, `threads` at a time, and finish its moments."""
    folder = open_folder(videos, iterate_moments_file(moments), published)
    with_ids = any(row.get("desc_id") is not None for _, row in iterate_moments_file(moments))
    own = {video for video in folder.paths if shard_of(video, shards) == shard}
    usable, _ = usable_rows(iterate_moments_file(moments), folder, default_split, with_ids, own)
    probes = probe_all({row["video"]: folder.paths[row["video"]] for _, row in usable}, threads)
    finished, _, _ = finish(usable, probes)
    return Shard(finished, _described(finished, folder, probes), probes)


def read_folder(
    videos: str | os.PathLike,
    moments: str | os.PathLike,
    default_split: str,
    threads: int = 1,
    probes: Probes | None = None,
    published: bool = False,
) -> Corpus:
    """Read a folder of videos and a moments file; with `published` names, a video may lie in any subfolder.

    `probes` hold what `read_shard` found in all shards; without them each used video is probed here, `threads` at a
    time. Neither changes a byte.
    """
    rows = read_moments_file(moments)
    folder = open_folder(videos, rows, published)
    usable, exclusions = usable_rows(rows, folder, default_split)
    if probes is None:
        probes = probe_all({row["video"]: folder.paths[row["video"]] for _, row in usable}, threads)
    finished, refused, clamped = finish(usable, probes)
    exclusions += refused
    if not finished:
        reasons = Counter(row["reason"] for row in exclusions).most_common()
        raise InputError(
            f"no usable moment in {len(rows)} rows: " + ", ".join(f"{reason} ({count})" for reason, count in reasons),
            file=moments,
            remedy=f"first: row {exclusions[0]['row']}, {exclusions[0]['detail']}",
        )

    used = {row["video"] for row in finished}
    exclusions.sort(key=lambda row: row["row"])
    exclusions += [_exclusion(None, name, None, reason, detail) for name, reason, detail in folder.refused]
    for video in sorted(folder.paths.keys() - used):
        error = probes.unreadable.get(video)
        reason, detail = (error.reason, error.detail) if error else ("no-usable-moments", "no usable moment is in it")
        exclusions.append(_exclusion(None, video, None, reason, detail))
    described = _described(finished, folder, probes)
    counts = _counts(len(rows), finished, described, exclusions, clamped)
    if published:
        counts["published"] = availability(rows, finished)
    return Corpus(finished, described, exclusions, counts)


def open_folder(videos: str | os.PathLike, rows: Iterable[tuple[int, dict]], published: bool) -> VideoFolder:
    """The folder of videos; with `published` names, those of `rows` are found in any subfolder."""
    return VideoFolder(videos, {row["video"] for _, row in rows} if published else ())


def finish(usable: list[tuple[int, dict]], probes: Probes) -> tuple[list[dict], list[dict], list[dict]]:
    """Moments with the durations of their videos, exclusions of the others, and the ends that were clamped."""
    finished, exclusions, clamped = [], [], []
    for number, row in usable:
        try:
            if row["video"] in probes.unreadable:
                raise RowRefused("unreadable-video", str(probes.unreadable[row["video"]].reason))
            duration = probes.readable[row["video"]]["duration"]
            end = moment_checks.end_within(row["start"], row["end"], duration)
        except RowRefused as refusal:
            exclusions.append(_exclusion(number, row["video"], row["desc_id"], refusal.reason, refusal.detail))
            continue
        if end < row["end"]:
            clamped.append({"desc_id": row["desc_id"], "end": row["end"], "duration": duration})
        if "annotator_times" in row:
            inside = ([first, min(last, duration)] for first, last in row["annotator_times"] if first < duration)
            row = {**row, "annotator_times": list(inside)}
        finished.append({**row, "end": end, "duration": duration})
    return finished, exclusions, clamped


def _described(moments: list[dict], folder: VideoFolder, probes: Probes) -> list[dict]:
    """Rows of videos.jsonl of the videos that moments are in, in the folder's order."""
    used = {row["video"] for row in moments}
    return [
        {"video": video, "path": path.as_posix(), **probes.readable[video]}
        for video, path in folder.paths.items()
        if video in used
    ]


def usable_rows(
    rows: Iterable[tuple[int, dict]],
    folder: VideoFolder,
    default_split: str,
    with_ids: bool | None = None,
    own: set[str] | None = None,
):
    """The rows that can be used as far as can be told without decoding, and the exclusions of the others.

    `with_ids`: whether any row has an id, where that is known; then rows are drawn one at a time. `own`: only rows
    of these videos, and no exclusions.
    """
    if with_ids is None:
        rows = list(rows)
        with_ids = any(row.get("desc_id") is not None for _, row in rows)
    usable, exclusions, seen = [], [], set()
    for position, (number, row) in enumerate(rows, start=1):
        identity = None
        try:
            identity = moment_checks.desc_id(row.get("desc_id") if with_ids else position, seen)
            moment_checks.check_complete(row)
            video = folder.video_id(row["video"])
            if own is not None and video not in own:
                continue
            start, end = moment_checks.span(row)
            caption = moment_checks.caption(row["caption"])
            split = row.get("split")
            split = moment_checks.split_name(default_split if split is None else split)
        except (RowRefused, NameRefused) as refusal:
            if own is not None:
                continue
            shown = row.get("video") if isinstance(row.get("video"), str) else None
            exclusions.append(_exclusion(number, shown, identity, refusal.reason, refusal.detail))
            continue
        finally:
            seen.add(identity)
        moment = {"desc_id": identity, "video": video, "start": start, "end": end, "duration": None}
        spans = {"annotator_times": row["annotator_times"]} if "annotator_times" in row else {}
        usable.append((number, {**moment, "split": split, "caption": caption, **spans}))
    return usable, exclusions


def probe_all(paths: dict[str, Path], threads: int) -> Probes:
    """Probe videos by id, `threads` at a time."""

    def attempt(path: Path) -> dict | VideoError:
        try:
            return probe(path)
        except VideoError as error:
            return error

    with ThreadPoolExecutor(max(1, threads)) as pool:
        results: Iterable = track(pool.map(attempt, paths.values()), "probe", len(paths), "videos")
        every = dict(zip(paths, results))
    unreadable = {video: result for video, result in every.items() if isinstance(result, VideoError)}
    return Probes({video: result for video, result in every.items() if isinstance(result, dict)}, unreadable)


def _exclusion(row: int | None, video: str | None, identity: int | None, reason: str, detail: str) -> dict:
    shown = video and video.encode("utf-8", "backslashreplace").decode("utf-8")
    return {"row": row, "video": shown, "desc_id": identity, "reason": reason, "detail": detail}


def _counts(rows: int, moments: list[dict], videos: list[dict], exclusions: list[dict], clamped: list[dict]) -> dict:
    of_rows = [row for row in exclusions if row["row"] is not None]
    of_videos = [row for row in exclusions if row["row"] is None]
    return {
        "rows": rows,
        "moments": len(moments),
        "excluded_rows": dict(sorted(Counter(row["reason"] for row in of_rows).items())),
        "splits": dict(sorted(Counter(row["split"] for row in moments).items())),
        "videos_found": len(videos) + len(of_videos),
        "videos": len(videos),
        "excluded_videos": dict(sorted(Counter(row["reason"] for row in of_videos).items())),
        "partial_videos": sum(row["state"] == "partial" for row in videos),
        "identical_videos": len(videos) - len({row["sha256"] for row in videos}),
        "clamped_ends": clamped,
    }


def availability(rows: list[tuple[int, dict]], moments: list[dict]) -> dict[str, dict[str, int]]:
    """Of published annotations, by split: videos and moments, and how many of them are at hand."""
    usable = {moment["desc_id"] for moment in moments}
    at_hand: dict[str, dict] = {}
    for _, row in rows:
        split = at_hand.setdefault(row["split"], {"videos": set(), "moments": 0, "videos_at_hand": set(), "at_hand": 0})
        split["videos"].add(row["video"])
        split["moments"] += 1
        if row["desc_id"] in usable:
            split["videos_at_hand"].add(row["video"])
            split["at_hand"] += 1
    return {
        name: {
            "videos": len(split["videos"]),
            "videos_at_hand": len(split["videos_at_hand"]),
            "moments": split["moments"],
            "moments_at_hand": split["at_hand"],
        }
        for name, split in at_hand.items()
    }
