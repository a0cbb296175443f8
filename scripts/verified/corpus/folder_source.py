"""The source `folder`: make a corpus of a folder of videos and a moments file, also for the rendered demo.

An error in a whole file is an InputError (see `io.moments_file`, `video_folder`; also a corpus without a single usable
moment). An error in a row or a video is an exclusion with a reason, one per row and one per unused video:

- rows: the reasons of `io.moments_file`; `invalid-video-id`, `unknown-video`, `ambiguous-video`, `outside-folder`,
  `linked-folder`, `not-a-file`; `unreadable-video` if the file does not decode;
- videos (exclusions without a row): `invalid-video-id`, `outside-folder`, `linked-folder`, `not-a-file`, the reasons of
  `io.video.VideoError`, and `no-usable-moments`.

Ends after the video's end are clamped and counted. Rows of the file = moments + exclusions with a row; videos in the
folder = rows of videos.jsonl + exclusions without a row. The same video under two names is two videos, and counted. If
no row gives a `desc_id`, it is the row's position in the file, counted from 1: an exclusion shifts no other id. A given
`duration` is ignored: the decoded one is used.
"""

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from verified.corpus.video_folder import NameRefused, VideoFolder, other_files
from verified.errors import InputError
from verified.io import moments_file
from verified.io.moments_file import RowRefused, iterate_moments_file
from verified.io.video import VideoError, file_digest, probe
from verified.runtime.progress import track
from verified.runtime.wildcards import shard_index, shard_of

NOTHING: Mapping[str, dict] = {}


class Probes(NamedTuple):
    """Rows of videos.jsonl by id, without id and path, and for unreadable videos the reason.

    `judged`: quality measures of moments by `moment_key`, taken before any model call: `said`, and `reason` and
    `detail` of excluded ones (see `verified.stage.Selection`).
    """

    readable: dict[str, dict]
    unreadable: dict[str, VideoError]
    judged: Mapping[str, dict] = NOTHING


def moment_key(moment: Mapping) -> str:
    """Identity of a moment, independent of its id: video, start and end."""
    return f"{moment['start']!r}-{moment['end']!r} {moment['video']}"


class Reading:
    """A folder of videos and a moments file, joined row by row, with one moment in memory at a time.

    `moments` must be consumed first, to its end; then `videos`, `exclusions` and `counts` are complete. With
    `published` names, a video may be in any subfolder. `probes` are the results of `read_shard` in all shards; without
    them each used video is probed here. Neither changes a byte.
    """

    def __init__(
        self,
        videos: str | os.PathLike,
        moments: str | os.PathLike,
        default_split: str,
        published: bool = False,
        probes: Probes | None = None,
    ):
        self._file, self._published = moments, published
        self._folder, self._rows = join(videos, lambda: iterate_moments_file(moments), default_split, published)
        if probes is None:
            used = {row["video"] for _, _, row in self._rows() if "reason" not in row}
            probes = probe_all({video: path for video, path in self._folder.paths.items() if video in used})
        self._probes = probes
        self._used: set[str] = set()
        self._excluded: list[dict] = []
        self._clamped: list[dict] = []
        self._splits: Counter[str] = Counter()
        self._count = 0
        self._availability: dict[str, dict[str, list[bool]]] = {}
        """By split and video of published annotations, whether each of its moments is usable."""

    def moments(self) -> Iterator[dict]:
        """The usable moments, in the file's order. Raises InputError at the end if there are none."""
        for number, given, row in self._rows():
            self._count += 1
            row, clamped = (row, None) if "reason" in row else _finish_row(number, row, self._probes)
            usable = "reason" not in row
            if self._published:
                of_split = self._availability.setdefault(given["split"], {})
                of_split.setdefault(given["video"], []).append(usable)
            if not usable:
                self._excluded.append(row)
                continue
            if clamped:
                self._clamped.append(clamped)
            self._used.add(row["video"])
            self._splits[row["split"]] += 1
            yield row
        if not self._used:
            reasons = Counter(row["reason"] for row in self._excluded).most_common()
            raise InputError(
                f"no usable moment in {self._count} rows: "
                + ", ".join(f"{reason} ({count})" for reason, count in reasons),
                file=self._file,
                remedy=f"first: row {self._excluded[0]['row']}, {self._excluded[0]['detail']}",
            )

    def videos(self) -> Iterator[dict]:
        """The videos that moments are in, in the order of their files' names."""
        for video, path in self._folder.files.items():
            if video in self._used:
                yield {"video": video, "path": path, **self._probes.readable[video]}

    def exclusions(self) -> Iterator[dict]:
        """Rows that are no moments, then videos that are not used."""
        yield from self._excluded
        for name, reason, detail in self._folder.refused:
            yield _exclusion(None, name, None, reason, detail)
        for video in sorted(self._folder.files.keys() - self._used):
            error = self._probes.unreadable.get(video)
            reason, detail = (
                (error.reason, error.detail) if error else ("no-usable-moments", "no usable moment is in it")
            )
            yield _exclusion(None, video, None, reason, detail)

    def counts(self) -> dict:
        """The object of counts.json."""
        probed = [self._probes.readable[video] for video in self._used]
        of_videos = Counter(row["reason"] for row in self.exclusions() if row["row"] is None)
        counts = {
            "rows": self._count,
            "moments": self._splits.total(),
            "excluded_rows": dict(sorted(Counter(row["reason"] for row in self._excluded).items())),
            "splits": dict(sorted(self._splits.items())),
            "videos_found": len(probed) + of_videos.total(),
            "other_files": other_files(self._folder.folder),
            "videos": len(probed),
            "excluded_videos": dict(sorted(of_videos.items())),
            "partial_videos": sum(probe["state"] == "partial" for probe in probed),
            "identical_videos": len(probed) - len({probe["sha256"] for probe in probed}),
            "clamped_ends": self._clamped,
        }
        if self._published:
            counts["published"] = {
                split: {
                    "videos": len(usable),
                    "videos_at_hand": sum(map(any, usable.values())),
                    "moments": sum(map(len, usable.values())),
                    "moments_at_hand": sum(map(sum, usable.values())),
                }
                for split, usable in self._availability.items()
            }
        return counts


def shard_moments(files: dict[str, str], source: dict, shard: str, shards: int) -> list[dict]:
    """Usable rows of one shard, judged without decoding, in the file's order, with the `path` of the video.

    `files`: the folder of `videos` and the `moments` file; `source`: its `default_split`, and whether videos have
    `published` names. Raises InputError if one of them cannot be read.
    """
    folder, rows = join(files["videos"], lambda: iterate_moments_file(files["moments"]), **source)
    own, number = functools.cache(shard_of), shard_index(shard)
    return [
        {"path": folder.files[row["video"]], **row}
        for _, _, row in rows()
        if "reason" not in row and own(row["video"], shards) == number
    ]


def read_shard(rows: list[dict], earlier: Mapping[str, dict] = NOTHING) -> tuple[list[dict], list[dict], Probes]:
    """Probe the videos of `shard_moments`; returns the moments and videos of the shard, as the whole corpus will hold
    them (splits apart), and all its probes. `earlier`: probes by SHA-256.
    """
    paths = {row["video"]: row["path"] for row in rows}
    probes = probe_all({video: Path(path) for video, path in paths.items()}, earlier)
    moments = finish(({key: row[key] for key in row if key != "path"} for row in rows), probes)
    used = {row["video"] for row in moments}
    by_path = sorted(used, key=paths.__getitem__)
    return moments, [{"video": video, "path": paths[video], **probes.readable[video]} for video in by_path], probes


def join(
    videos: str | os.PathLike, rows: Callable[[], Iterable[tuple[int, dict]]], default_split: str, published: bool
) -> tuple[VideoFolder, Callable[[], Iterator[tuple[int, dict, dict]]]]:
    """The folder of videos, and the rows of a moments file joined with it (see `check_rows`), each time from the first.

    `rows` gives the numbered rows of the file. With `published` names, their videos are found in any subfolder. If no
    row has a `desc_id`, its position is its id.
    """
    folder = VideoFolder(videos, {row["video"] for _, row in rows()} if published else ())
    with_ids = any(row.get("desc_id") is not None for _, row in rows())
    return folder, lambda: check_rows(rows(), folder, default_split, with_ids)


def _finish_row(number: int | None, row: dict, probes: Probes) -> tuple[dict, dict | None]:
    """A moment with its video's duration, and its end where it was clamped; or the exclusion of its row."""
    try:
        if row["video"] in probes.unreadable:
            raise RowRefused("unreadable-video", str(probes.unreadable[row["video"]].reason))
        duration = probes.readable[row["video"]]["duration"]
        end = moments_file.end_within(row["start"], row["end"], duration)
        judged: Mapping = probes.judged.get(moment_key({**row, "end": end}), {}) if probes.judged else {}
        if judged.get("reason"):
            raise RowRefused(judged["reason"], judged["detail"])
    except RowRefused as refusal:
        return _exclusion(number, row["video"], row["desc_id"], refusal.reason, refusal.detail), None
    clamped = {"desc_id": row["desc_id"], "end": row["end"], "duration": duration} if end < row["end"] else None
    if "annotator_times" in row:
        inside = ([first, min(last, duration)] for first, last in row["annotator_times"] if first < duration)
        row = {**row, "annotator_times": list(inside)}
    speech = {"said": judged["said"]} if "said" in judged else {}
    return {**row, "end": end, "duration": duration, **speech}, clamped


def finish(usable: Iterable[dict], probes: Probes) -> list[dict]:
    """The moments among usable rows, with the durations of their videos."""
    results = (_finish_row(None, row, probes)[0] for row in usable)
    return [row for row in results if "reason" not in row]


def check_rows(
    rows: Iterable[tuple[int, dict]], folder: VideoFolder, default_split: str, with_ids: bool
) -> Iterator[tuple[int, dict, dict]]:
    """Each row, one at a time, with its number and its outcome: a moment, or an exclusion, which has a `reason`.

    `with_ids`: whether any row has an id. All given ids are held in memory; positions used as ids are not.
    """
    ids: set[int] = set()
    for position, (number, row) in enumerate(rows, start=1):
        identity = None
        try:
            identity = moments_file.desc_id(row.get("desc_id"), ids) if with_ids else position
            moments_file.check_complete(row)
            video = folder.video_id(row["video"])
            start, end = moments_file.span(row)
            caption = moments_file.caption(row["caption"])
            split = row.get("split")
            split = moments_file.split_name(default_split if split is None else split)
        except (RowRefused, NameRefused) as refusal:
            name = row.get("video") if isinstance(row.get("video"), str) else None
            yield number, row, _exclusion(number, name, identity, refusal.reason, refusal.detail)
            continue
        finally:
            if with_ids and identity is not None:
                ids.add(identity)
        moment = {"desc_id": identity, "video": video, "start": start, "end": end, "duration": None}
        spans = {"annotator_times": row["annotator_times"]} if "annotator_times" in row else {}
        yield number, row, {**moment, "split": split, "caption": caption, **spans}


def probe_all(paths: dict[str, Path], earlier: Mapping[str, dict] = NOTHING) -> Probes:
    """Probe videos by id; `earlier` holds probes by SHA-256."""
    probes = Probes({}, {})
    for video, path in track(paths.items(), "probe", len(paths), "videos"):
        try:
            digest = file_digest(path) if earlier else ""
            probes.readable[video] = earlier[digest] if digest in earlier else probe(path)
        except VideoError as error:
            probes.unreadable[video] = error
    return probes


def _exclusion(row: int | None, video: str | None, identity: int | None, reason: str, detail: str) -> dict:
    printable = video and video.encode("utf-8", "backslashreplace").decode("utf-8")
    return {"row": row, "video": printable, "desc_id": identity, "reason": reason, "detail": detail}
