"""Digest of each shard's rows and videos, recomputed at start from cached file stamps.

A corpus may hold a million moments and 200,000 videos. Digests are cached in `.snakemake` (`REMEMBERED`) and recomputed
if the size, times or inode of a file changed, then with the cached states of the other videos. The cache may be deleted
at any time.
"""

import contextlib
import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import orjson

from verified.config.sources import SourceSection
from verified.corpus.video_folder import (
    Listing,
    NameRefused,
    VideoFolder,
    file_state,
    list_folder,
    stamp,
)
from verified.errors import InputError
from verified.io.files import atomic_path
from verified.io.moments_file import iterate_moments_file
from verified.runtime.wildcards import shard_index, shard_of

REMEMBERED = ".snakemake"
RESULTS, VIDEOS = "verified-states.json", "verified-videos.json"


@cache
def recall(name: str) -> dict[str, Any]:
    """A JSON document in `REMEMBERED`; empty if the folder or a readable document is missing."""
    with contextlib.suppress(OSError, orjson.JSONDecodeError):
        read = orjson.loads(Path(REMEMBERED, name).read_bytes())
        return read if isinstance(read, dict) else {}
    return {}


def remember(name: str, new: dict[str, Any]) -> None:
    """Add entries to a document; a failed write costs the next start some seconds."""
    recall(name).update(new)
    file = Path(REMEMBERED, name)
    if new and file.parent.is_dir():
        with contextlib.suppress(OSError), atomic_path(file) as temporary:
            temporary.write_bytes(orjson.dumps(recall(name)))


def cached_state(subject: str, videos: str, moments: str | None, tell: Callable[[], Any]) -> Any:
    """Cached result of `tell` on a folder of videos and a moments file, valid while their stamps do not change.

    `subject` names the result. A file that changed just now could change again within the resolution of its times, so
    its result is not cached. `tell` handles missing files.
    """
    now, settled = _folder_now(videos)
    if moments is not None:
        try:
            of_moments, old = stamp(moments)
        except OSError:
            return tell()
        now, settled = f"{now} {of_moments}", settled and old
    key = f"{subject} of {videos} {moments or ''}"
    entry = recall(RESULTS).get(key)
    if isinstance(entry, list) and entry[0] == now:
        list_videos.cache_clear()  # 200,000 names and stamps that are no longer needed
        return entry[1]
    value = tell()
    if settled:
        remember(RESULTS, {key: [now, value]})
    return value


@cache
def list_videos(folder: str) -> Listing:
    """The videos below a folder, looked up once: a start asks for each kind of state."""
    return list_folder(folder)


@cache
def _folder_now(folder: str) -> tuple[str, bool]:
    listing = list_videos(folder)
    return listing.digest, listing.settled


def folder_state(source: SourceSection) -> str | None:
    """Names of the videos in a user's folder, and a sample of each; None for a rendered one."""
    videos = source.given_videos
    return None if videos is None else cached_state("the folder", videos, None, lambda: _folder_digest(videos))


def _folder_digest(videos: str) -> str:
    names = [name for name, _ in list_videos(videos).files]
    return _digests(videos, [("\n".join(names), [list_videos(videos).prefix + name for name in names])])[0]


def shard_state(source: SourceSection, shard: str, shards: int) -> str | None:
    """A digest of the usable rows of a shard and of the state of their videos.

    The folder and the moments file change with every added video; this digest changes only with the shard. The demo's
    files are outputs of a rule and need none.
    """
    videos = source.given_videos
    if videos is None:
        return None
    return _shard_states(videos, source.given_moments, shards, source.published)[shard_index(shard)]


def scene_state(source: SourceSection, shard: str, shards: int) -> str | None:
    """A digest of the videos of a shard whose scenes are looked for, and of the state of each."""
    videos = source.given_videos
    return None if videos is None else videos_state(videos, shard, shards, source.published)


def videos_state(videos: str, shard: str, shards: int, published: bool = False) -> str:
    """A digest of the videos of a shard in a folder, by their paths and the state of each."""
    return _scene_states(videos, shards, published)[shard_index(shard)]


def paths_of_shard(source: SourceSection, shard: str, shards: int) -> list[str]:
    """Paths of the videos of a shard in a user's folder; none of a rendered one."""
    videos = source.given_videos
    return [] if videos is None else _paths_by_shard(videos, shards, source.published)[shard_index(shard)]


@cache
def _shard_states(videos: str, moments: str | None, shards: int, published: bool) -> list[str]:
    if moments is None:  # the moments file is an input of the shards' jobs
        return _scene_states(videos, shards, published)
    subject = f"rows in {shards} shards"
    return cached_state(subject, videos, moments, lambda: _digests(videos, rows_by_shard(videos, moments, shards)))


@cache
def _scene_states(videos: str, shards: int, published: bool) -> list[str]:
    def tell() -> list[str]:
        by_shard = _paths_by_shard(videos, shards, published)
        return _digests(videos, (("\n".join(paths), paths) for paths in by_shard))

    return cached_state(f"videos in {shards} shards, published: {published}", videos, None, tell)


def _digests(videos: str, by_shard: Iterable[tuple[str, list[str]]]) -> list[str]:
    """A digest for each shard, of the given digest of its rows and of the state of each of its videos."""
    states, digests = video_states(list_videos(videos)), []
    for rows, paths in by_shard:
        text = "\n".join([rows, *(states.get(path, "") for path in paths)])
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
    return digests


def video_states(listing: Listing) -> dict[str, str]:
    """`file_state` of each video by path; a video is sampled again only when its stamp changed."""
    known, states, new = recall(VIDEOS), dict[str, str](), dict[str, str]()
    for name, _ in listing.files:
        path, now = listing.prefix + name, listing.stamps.get(name)
        before, _, state = str(known.get(path, "")).partition("\n")
        if before != now:
            state = file_state(path)
            if now and path.isprintable():  # JSON holds no name that is not UTF-8
                # As one string: Python's collector would traverse 200,000 lists repeatedly.
                new[path] = f"{now}\n{state}"
        states[path] = state
    remember(VIDEOS, new)
    return states


@cache
def _paths_by_shard(videos: str, shards: int, published: bool) -> list[list[str]]:
    """For each shard the paths of the videos that belong to it, by their id or by their published name."""
    by_shard: list[list[str]] = [[] for _ in range(shards)]
    try:
        folder = VideoFolder(videos, listed=list_videos(videos).files)
    except InputError:  # the job reports it
        return by_shard
    for video, path in folder.files.items():
        by_shard[shard_of(PurePath(path).stem if published else video, shards)].append(path)
    return by_shard


def rows_by_shard(videos: str, moments: str, shards: int) -> list[tuple[str, list[str]]]:
    """For each shard a digest of its rows in the file of `moments`, without their splits, and the paths of their videos
    in the folder of `videos`.

    Rows are hashed verbatim. If the ids of other rows decide its outcome (its position if no row has an id, a repeated
    id) these are hashed too. All shards are empty if the folder or the file cannot be read.
    """
    try:
        folder = VideoFolder(videos, listed=list_videos(videos).files)
        return _divide(folder, _rows(Path(moments)), shards)
    except (InputError, OSError):  # the job that builds the corpus reports it, with the file's name
        return [("", []) for _ in range(shards)]


def _rows(path: Path) -> Iterator[dict]:
    """Rows of a moments file, one at a time for JSON lines."""
    if path.suffix.lower() != ".jsonl":
        yield from (row for _, row in iterate_moments_file(path))
        return
    read = orjson.loads
    with path.open("rb") as lines:
        for line in lines:
            try:
                row = read(line)
            except orjson.JSONDecodeError:  # NaN, a byte order mark, or no JSON: the job that reads it reports it
                try:
                    row = json.loads(line.decode("utf-8-sig"))
                except (ValueError, RecursionError):
                    row = None
            yield row if type(row) is dict else {}


def _divide(folder: VideoFolder, rows: Iterable[dict], shards: int) -> list[tuple[str, list[str]]]:
    digests = [hashlib.sha256() for _ in range(shards)]
    videos: list[dict[str, str]] = [{} for _ in range(shards)]
    shard_by_name: dict[str, int] = {}
    ids, places = array("q"), array("q")
    write, ending = orjson.dumps, orjson.OPT_APPEND_NEWLINE
    for position, row in enumerate(rows, start=1):  # a million calls: the usual case comes first
        name = row.get("video")
        if type(name) is not str:
            name = ""
        shard = shard_by_name.get(name)
        if shard is None:
            try:
                video = folder.video_id(name)
            except NameRefused:
                shard = -1
            else:
                shard = shard_of(video, shards)
                videos[shard][video] = folder.files[video]
            shard_by_name[name] = shard
        identity = row.get("desc_id")
        places.append(shard)
        if identity is None:
            ids.append(-position)
        else:
            ids.append(hash(identity if type(identity) is int else _number(identity)))
        if shard >= 0:
            row.pop("split", None)
            try:
                line = write(row, None, ending)
            except TypeError:  # an integer of more than 64 bits, half a surrogate pair
                line = f"{row}\n".encode("utf-8", "surrogatepass")
            digests[shard].update(line if identity is not None else b"%d %b" % (position, line))
    for shard, at in _find_repeated(np.frombuffer(ids, dtype=np.int64), np.frombuffer(places, dtype=np.int64)):
        digests[shard].update(f"id used before: {at}\n".encode())
    return [(digest.hexdigest()[:16], [*of_shard.values()]) for digest, of_shard in zip(digests, videos)]


def _number(identity: object) -> object:
    """The number of an id that is not a number: text of digits counts."""
    text = str(identity).strip()
    return int(text) if text.isdecimal() and len(text) < 20 else text


def _find_repeated(ids: np.ndarray, places: np.ndarray) -> list[tuple[int, int]]:
    """(shard, position) of rows whose id another row has."""
    if not len(ids):
        return []
    _, inverse, counts = np.unique(ids, return_inverse=True, return_counts=True)
    rows = np.flatnonzero((counts[inverse] > 1) & (places >= 0))
    return [(int(places[row]), int(row)) for row in rows]
