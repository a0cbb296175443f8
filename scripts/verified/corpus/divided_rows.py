"""Divide the usable rows by shard once for all corpus jobs, so that a job reads its rows only.

Dividing reads the whole moments file and the names of all videos. The first job without a current division makes one,
in the folder `.rows` beside the shards and outside of the graph of jobs: a part for each shard, named with a unique
tag, and then `head.json`, which names the inputs and the size and digest of each part. So an interrupted division is
ignored, and a damaged one is made again. The folder may be deleted at any time.
"""

import contextlib
import hashlib
import json
import logging
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verified.corpus.folder_source import usable_moments
from verified.corpus.video_folder import folders_below, stamp
from verified.io.files import write_text
from verified.io.jsonl import is_object
from verified.runtime.lock_file import exclusive
from verified.runtime.wildcards import shard_of

FOLDER, HEAD, LOCK, PART = ".rows", "head.json", "lock", "part-"
BUFFER = 1 << 24
"""Bytes of text buffered before they are appended to the parts."""

log = logging.getLogger("verified")


def read_shard_rows(source: dict, files: dict[str, str], shard: int, shards: int, folder: Path) -> list[dict]:
    """The usable rows of a shard, in the file's order, each with the `path` of its video.

    `source` and `files` name the inputs (see `assemble.read_source`) and the other settings that decide the rows;
    `folder` is that of the shards. One job at a time divides them, while the others wait. It uses its own division
    directly; other jobs use it only if neither the moments file nor a folder of videos has changed since. Raises
    InputError if the source cannot be read.
    """
    request, folder = {"source": source, "files": files, "shards": shards}, folder / FOLDER
    rows = _read(folder, request, shard)
    while rows is None:
        with exclusive(folder / LOCK):
            rows = _read(folder, request, shard)
            if rows is None:
                rows = _read_part(folder, _divide(request, folder), shard)
    return rows


def _read(folder: Path, request: dict, shard: int) -> list[dict] | None:
    """The rows of a shard if they were divided from the current files; else None."""
    try:
        head = json.loads((folder / HEAD).read_bytes())
        if not is_object(head) or head["asked"] != request or not head["settled"]:
            return None
        if head["stamps"] != {path: stamp(path)[0] for path in head["stamps"]}:
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return _read_part(folder, head, shard)


def _read_part(folder: Path, head: dict[str, Any], shard: int) -> list[dict] | None:
    """The rows of a shard's part, if it is whole."""
    try:
        content = _part(folder, head["tag"], shard).read_bytes()
        if [len(content), hashlib.sha256(content).hexdigest()] != head["parts"][shard]:
            return None
    except (OSError, ValueError, KeyError, TypeError, IndexError):  # another division has replaced it
        return None
    return [json.loads(line) for line in content.splitlines()]


def _divide(request: dict, folder: Path) -> dict[str, Any]:
    """Divide the current files, replace the last division, and return the new head."""
    source, files, shards = request["source"], request["files"], request["shards"]
    paths = [files["moments"], *folders_below(files["videos"])]
    stamps, settled = {}, True
    for path in paths:
        with contextlib.suppress(OSError):  # its reader reports the error
            stamps[path], old = stamp(path)
            settled = settled and old
    tag = uuid.uuid4().hex
    parts = [_part(folder, tag, shard) for shard in range(shards)]
    try:
        sizes = _write(parts, usable_moments(files, source))
        head = {"asked": request, "stamps": stamps, "settled": settled, "tag": tag, "parts": sizes}
        write_text(folder / HEAD, json.dumps(head))
    except BaseException:
        _remove(folder, lambda name: name.startswith(f"{PART}{tag}"))
        raise
    _remove(folder, lambda name: name.startswith(PART) and not name.startswith(f"{PART}{tag}"))
    return head


def _write(parts: list[Path], rows: Iterator[dict]) -> list[list[int | str]]:
    """Write each row to the part of its shard; size and SHA-256 of each part."""
    digests, sizes = [hashlib.sha256() for _ in parts], [0] * len(parts)
    lines: list[list[bytes]] = [[] for _ in parts]
    held = count = 0

    def flush() -> None:
        for shard, part in enumerate(parts):
            text = b"".join(lines[shard])
            with part.open("ab") as out:
                out.write(text)
            digests[shard].update(text)
            sizes[shard] += len(text)
            lines[shard].clear()

    known: dict[str, int] = {}
    for row in rows:
        count += 1
        shard = known.get(row["video"])
        if shard is None:
            shard = known[row["video"]] = shard_of(row["video"], len(parts))
        line = json.dumps(row).encode() + b"\n"
        lines[shard].append(line)
        held += len(line)
        if held > BUFFER:
            flush()
            held = 0
    flush()
    log.info("%d usable rows divided into %d shards, for this job and the others", count, len(parts))
    return [[size, digest.hexdigest()] for size, digest in zip(sizes, digests)]


def _part(folder: Path, tag: str, shard: int) -> Path:
    return folder / f"{PART}{tag}-{shard}"


def _remove(folder: Path, chosen: Callable[[str], bool]) -> None:
    for name in filter(chosen, os.listdir(folder)):
        (folder / name).unlink(missing_ok=True)
