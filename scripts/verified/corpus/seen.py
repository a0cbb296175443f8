"""The moments that a source has now, with what runs have found in their videos where that still holds: for quotes."""

import os
from pathlib import Path
from typing import NamedTuple

from verified.config.sources import SourceSection
from verified.corpus.assemble import read_probes
from verified.corpus.folder_source import Probes, finish
from verified.corpus.unprobed import unprobed_rows
from verified.io.video import VideoError, file_digest
from verified.runtime.wildcards import group_by_shard, shard_name


class SeenShard(NamedTuple):
    """The moments of a shard that can be used as far as is known, and the rows of videos.jsonl of probed videos.

    The `duration` of moments in other videos is None.
    """

    moments: list[dict]
    videos: dict[str, dict]


def seen_shards(source: SourceSection, corpus: str, shards: int) -> list[SeenShard]:
    """What is known of each shard, without decoding a video; `corpus` is the folder of what rules make.

    The source's own files say which moments there are. A probe of an earlier run holds while the video's file did not
    change since; where its times leave that open, its digest tells. Raises InputError as `unprobed_rows` does.
    """
    read = unprobed_rows(source, corpus)
    numbers = {row["desc_id"]: number for number, row in read.usable}
    found = []
    for shard, moments in enumerate(group_by_shard((row for _, row in read.usable), shards)):
        paths = {row["video"]: read.folder.paths[row["video"]] for row in moments}
        # Before moments are selected by their quality, what was found of them stands apart.
        files = [Path(corpus, folder, f"{shard_name(shard)}.probes.jsonl") for folder in ("shards", "found")]
        probes = _that_hold(files[0] if files[0].is_file() else files[1], paths)
        known = probes.readable.keys() | probes.unreadable.keys()
        probed = [(numbers[row["desc_id"]], row) for row in moments if row["video"] in known]
        finished = {row["desc_id"]: row for row in finish(probed, probes)[0]}
        present = (row if row["video"] not in known else finished.get(row["desc_id"]) for row in moments)
        videos = {
            video: {"video": video, "path": paths[video].as_posix(), **row} for video, row in probes.readable.items()
        }
        found.append(SeenShard([row for row in present if row is not None], videos))
    return found


def _that_hold(file: Path, paths: dict[str, Path]) -> Probes:
    """The probes in `file`, if there is one, of those of the videos that are still what was probed."""
    if not file.is_file():
        return Probes({}, {})
    written, probes = file.stat().st_mtime, read_probes([str(file)])
    readable = {
        video: row
        for video, row in probes.readable.items()
        if video in paths and (_older(paths[video], written) or _same(paths[video], row["sha256"]))
    }
    unreadable = {
        video: error for video, error in probes.unreadable.items() if video in paths and _older(paths[video], written)
    }
    return Probes(readable, unreadable, {key: row for key, row in probes.judged.items() if row["video"] in readable})


def _older(path: Path, written: float) -> bool:
    """Whether a file changed last before the time `written`; a copy that keeps its old times is new all the same."""
    status = os.stat(path)
    return max(status.st_mtime, status.st_ctime) < written


def _same(path: Path, sha256: str) -> bool:
    try:
        return file_digest(path) == sha256
    except VideoError:
        return False
