"""Wildcards of the rules: data sets and shards.

`dataset` is NAME, or NAME/DATASET (see `config.folders`). `shard` is one of a fixed number of groups of videos,
assigned by a stable hash of the video id, so that adding a video changes one shard.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from verified.io.jsonl import Row

Place = TypeVar("Place")


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint for `names`; it matches nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def shard_of(video: str, shards: int) -> int:
    """Index in [0, shards) of the shard that `video` belongs to; the same on every machine and Python."""
    return int.from_bytes(hashlib.sha256(video.encode("utf-8")).digest()[:8], "big") % shards


def shard_name(index: int) -> str:
    """Name used in paths and wildcards, e.g. ``shard-03``."""
    return f"shard-{index:02d}"


def shard_names(shards: int) -> list[str]:
    """Names of all shards, in order."""
    return [shard_name(index) for index in range(shards)]


def shard_index(name: str) -> int:
    """Inverse of `shard_name`."""
    return int(name.removeprefix("shard-"))


def group_by_shard(rows: Iterable[Row], shards: int) -> list[list[Row]]:
    """The rows of each shard, in their order; computed in one pass."""
    divided: list[list[Row]] = [[] for _ in range(shards)]
    shard_by_video: dict[str, int] = {}
    for row in rows:
        video = row["video"]
        if video not in shard_by_video:
            shard_by_video[video] = shard_of(video, shards)
        divided[shard_by_video[video]].append(row)
    return divided


def videos_of_shard(paths: Mapping[str, Place], name: str, shards: int) -> dict[str, Place]:
    """The videos that belong to shard `name`, by id, in the order of their ids."""
    return {video: path for video, path in sorted(paths.items()) if shard_of(video, shards) == shard_index(name)}


def key_of(wildcard: str) -> str:
    """The key of the data set that a value of the wildcard `dataset` refers to."""
    return wildcard.rsplit("/", 1)[-1]
