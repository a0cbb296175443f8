"""What each shard's rows and videos are, in a digest: told at each start, so reading as little as possible.

A corpus may hold a million moments and 200,000 videos. What was read once is kept in `.snakemake` (`REMEMBERED`) and
read again where the file's size, times or inode changed. The file may be deleted at any time.
"""

import contextlib
import hashlib
import json
import os
import time
from array import array
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import orjson

from verified.common.errors import InputError
from verified.common.files import atomic_path
from verified.common.shards import shard_of
from verified.config.sources import FolderSource
from verified.corpus.moments_file import read_moments_file
from verified.corpus.video_folder import NameRefused, VideoFolder, file_state

REMEMBERED = ".snakemake"
SETTLED_NS = 2_000_000_000
"""Nanoseconds since its last change after which a file's times tell whether it changes again."""


class Memory:
    """A JSON document in `REMEMBERED`; empty where there is no such folder, or no readable document."""

    def __init__(self, name: str):
        self.file = Path(REMEMBERED, name)
        self.values: dict = {}
        self.changed = False
        with contextlib.suppress(OSError, orjson.JSONDecodeError):
            read = orjson.loads(self.file.read_bytes())
            self.values = read if isinstance(read, dict) else {}

    def save(self) -> None:
        """Write what is new; a disk that refuses costs the next start some seconds."""
        if self.changed and self.file.parent.is_dir():
            with contextlib.suppress(OSError), atomic_path(self.file) as temporary:
                temporary.write_bytes(orjson.dumps(self.values))
            self.changed = False


def stamp(path: str | os.PathLike) -> tuple[str, bool]:
    """What changes with every change of a file (size, times, inode), and whether it is old enough to tell the next."""
    status = os.stat(path)
    settled = time.time_ns() - max(status.st_ctime_ns, status.st_mtime_ns) > SETTLED_NS
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}", settled


class VideoStates(Memory):
    """`file_state` of videos by path; a video is sampled again only when its stamp changed."""

    def __init__(self) -> None:
        super().__init__("verified-videos.json")

    def of(self, path: str) -> str:
        """The state of a video."""
        try:
            now, settled = stamp(path)
        except OSError:
            return ""
        known = self.values.get(path)
        if isinstance(known, list) and known[0] == now:
            return known[1]
        state = file_state(path)
        if settled:
            self.values[path], self.changed = [now, state], True
        return state


@cache
def video_states() -> VideoStates:
    """Those of this process."""
    return VideoStates()


def rows_by_shard(source: FolderSource, shards: int) -> list[tuple[str, list[str]]]:
    """For each shard a digest of its rows in the moments file, without their splits, and the paths of their videos.

    Rows are hashed as they stand. Where the ids of others decide what becomes of a row (its position where no row has
    an id, an id that is used twice) these are hashed too. Raises InputError for a folder or a file that is not there.
    """
    folder = VideoFolder(source.videos)
    listed = hashlib.sha256("\n".join(folder.paths).encode("utf-8", "surrogatepass")).hexdigest()
    if not source.moments or not Path(source.moments).is_file():
        raise InputError("no such moments file", file=source.moments)
    now, settled = stamp(source.moments)
    key = f"{source.moments} {source.videos} {shards}"
    memory = Memory("verified-rows.json")
    known = memory.values.get(key)
    if isinstance(known, dict) and known["stamp"] == f"{now} {listed}":
        return [(digest, paths) for digest, paths in known["shards"]]
    divided = _divide(folder, _rows(Path(source.moments)), shards)
    if settled:
        memory.values[key], memory.changed = {"stamp": f"{now} {listed}", "shards": divided}, True
        memory.save()
    return divided


def _rows(path: Path) -> Iterator[tuple[int, dict]]:
    """Rows of a moments file, one at a time where they are JSON lines."""
    if path.suffix.lower() != ".jsonl":
        yield from read_moments_file(path)
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:  # NaN, a byte order mark, or no JSON: the job that reads it says so
                try:
                    row = json.loads(line.decode("utf-8-sig"))
                except (ValueError, RecursionError):
                    row = None
            yield number, row if isinstance(row, dict) else {}


def _divide(folder: VideoFolder, rows: Iterable[tuple[int, dict]], shards: int) -> list[tuple[str, list[str]]]:
    digests = [hashlib.sha256() for _ in range(shards)]
    videos: list[dict[str, str]] = [{} for _ in range(shards)]
    shard_by_name: dict[str, int | None] = {}
    ids, places = array("q"), array("q")
    for position, (_, row) in enumerate(rows, start=1):
        name = row.get("video")
        if not isinstance(name, str):
            name = ""
        if name not in shard_by_name:
            try:
                video = folder.video_id(name)
            except NameRefused:
                shard_by_name[name] = None
            else:
                shard_by_name[name] = shard = shard_of(video, shards)
                videos[shard][video] = folder.paths[video].as_posix()
        shard = shard_by_name[name]
        identity = row.get("desc_id")
        ids.append(hash(str(identity).strip()) if identity is not None else -position)
        places.append(-1 if shard is None else shard)
        if shard is not None:
            row.pop("split", None)
            digests[shard].update(f"{position if identity is None else ''}{row}\n".encode("utf-8", "surrogatepass"))
    for shard, at in _used_twice(np.frombuffer(ids, dtype=np.int64), np.frombuffer(places, dtype=np.int64)):
        digests[shard].update(f"id used before: {at}\n".encode())
    return [(digest.hexdigest()[:16], [*of_shard.values()]) for digest, of_shard in zip(digests, videos)]


def _used_twice(ids: np.ndarray, places: np.ndarray) -> list[tuple[int, int]]:
    """(shard, position) of rows whose id another row has."""
    if not len(ids):
        return []
    _, inverse, counts = np.unique(ids, return_inverse=True, return_counts=True)
    rows = np.flatnonzero((counts[inverse] > 1) & (places >= 0))
    return [(int(places[row]), int(row)) for row in rows]
