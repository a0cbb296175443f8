"""Rows and parts of a ledger: one call with its outcome, and the files that jobs append these to.

Each job appends its outcomes to a part that nobody else writes to. A line is a checksum and a JSON object: the version
first, then outcomes (the key first). So any process on any machine can read a part while it grows.
"""

import contextlib
import errno
import hashlib
import json
import os
import platform
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from json.encoder import encode_basestring  # json.dumps(text, ensure_ascii=False) without making an encoder
from operator import itemgetter
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.lmm.request import STATUSES, Request, Sampling
from verified.lmm.thoughts import has_thought

VERSION = 2
"""Version of the form of ledgers and cassettes."""
Row = dict[str, Any]
COLUMNS = (
    *("key", "task", "model", "revision", "engine", "status", "reason", "detail", "finish", "text"),
    *("attempts", "tokens_in", "tokens_out", "seconds", "cost"),
    *("notes", "prompt", "media", "sampling", "schema", "created"),
)
TOTALS = ("attempts", "tokens_in", "tokens_out", "seconds", "cost")
LATEST = ("engine", "status", "reason", "detail", "finish", "text", "notes", "created")
INTEGERS = ("attempts", "tokens_in", "tokens_out")
REALS = ("seconds", "cost", "created")
TEXTS = tuple(name for name in COLUMNS if name not in INTEGERS + REALS)
JSON = {"notes": dict, "media": list, "sampling": dict}
MOST = 2**53
"""Largest count or amount: larger whole numbers are no longer exact in JSON and tables, and sums overflow."""

KINDS: tuple[tuple[tuple[str, ...], Callable[[Any], bool]], ...] = (
    (TEXTS, lambda value: type(value) is str and "\0" not in value),
    (INTEGERS, lambda value: type(value) is int and 0 <= value < MOST),
    (REALS, lambda value: type(value) in (int, float) and 0 <= value < MOST),
)


def parts_of(request: Request, media: Iterable[str], model: str, revision: str) -> dict[str, str]:
    """The columns of the ledger that identify a call; `media` are digests of its images or of its clip."""
    drawn = request.sampling
    return {
        "task": request.task,
        "model": model,
        "revision": revision,
        "prompt": storable(request.prompt),
        "media": json.dumps(list(media)),
        "sampling": _sampling(drawn, request.seed),
        "schema": json.dumps(request.schema, sort_keys=True) if request.schema else "",
    }


@lru_cache(64, typed=True)
def _sampling(sampling: Sampling, seed: int) -> str:
    drawn = {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.chat_template_kwargs:
        drawn["chat_template_kwargs"] = json.loads(sampling.chat_template_kwargs)
    return json.dumps({**drawn, "seed": seed}, sort_keys=True)


def key_of(parts: Mapping[str, str]) -> str:
    """SHA-256 over the parts of a call (model id and revision, task, prompt, media, sampling with seed, schema)."""
    names = ("task", "model", "revision", "prompt", "media", "sampling", "schema")
    text = f"[{', '.join([encode_basestring(parts[name]) for name in names])}]"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """Text without half of a surrogate pair, which JSON can smuggle in, and without NUL, which only damage leaves."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def merge(rows: Iterable[Row]) -> Row | None:
    """One row of all attempts of a call, None of none: amounts add up, and the first answer counts, else the last try.

    Attempts are in the order of their times, so that all machines merge alike.
    """
    merged: Row | None = None
    for row in sorted(rows, key=itemgetter("created")):
        if merged is not None:
            latest = merged if is_answer(merged) else row
            sums = {name: merged[name] + row[name] for name in TOTALS}
            row = {**row, **{name: latest[name] for name in LATEST}, **sums}
        merged = row
    return merged


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a row holds an answer that stays: one with thoughts in its text is asked for again."""
    return row["status"] == "ok" and not has_thought(row["text"])


def faults_of(row: Mapping[str, Any]) -> Iterator[str]:
    """The faults of one call, in words; none if it is as a run writes it."""
    for names, is_fit in KINDS:
        for name in names:
            if not is_fit(value := row.get(name)):
                yield f"{name} is {str(value)[:40]!r}"
                return
    if row["status"] not in STATUSES:
        yield f"the status {row['status'][:40]!r} is none of {', '.join(STATUSES)}"
    if key_of(row) != row["key"]:
        yield f"the content of this {row['task'][:40]} call belongs to another key"
    for name, kind in JSON.items():
        if not _holds(row[name], kind):
            yield f"{name} is not a JSON {'object' if kind is dict else 'array'}"
    if row["status"] == "ok" and not row["text"].strip():
        yield "recorded as ok without an answer"


@lru_cache(256)
def _holds(text: str, kind: type) -> bool:
    """Whether a text is the JSON of a value of that kind; most rows of a run have the same few texts."""
    try:
        return isinstance(json.loads(text), kind)
    except (ValueError, RecursionError):
        return False


SUFFIX = ".part"
SYNC_SECONDS = 5.0
"""At most so long does an outcome wait for the way to the file server, from where other machines see it."""

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def line_of(value: object) -> bytes:
    """A value as a line."""
    text = _json(value).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def is_whole(line: bytes) -> bool:
    """Whether a line is as it was written."""
    return line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])


def key_in(line: bytes) -> bytes:
    """The key of a line that holds an outcome; empty for any other."""
    return line[17:81] if line.startswith(b'{"key":"', 9) else b""


def value_of(line: bytes) -> object:
    """The content of a whole line."""
    return json.loads(line[9:])


HEAD = line_of({"version": VERSION})


class Part:
    """The part of this process, made with its first line in the folder `ledger`."""

    def __init__(self, ledger: Path):
        self.path = ledger / f"{platform.node() or 'host'}-{uuid.uuid4().hex}{SUFFIX}"
        self.file, self.size, self.synced = -1, 0, time.monotonic()

    def append(self, row: Row) -> None:
        """Record an outcome. A power cut can undo the last `SYNC_SECONDS`.

        Raises InputError when the disk is full, or somebody has removed the part.
        """
        line = line_of(row) if self.size else HEAD + line_of(row)
        try:
            if self.file < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            done = 0
            while done < len(line):
                done += os.pwrite(self.file, line[done:], self.size + done)
        except OSError as error:
            if self.file >= 0:
                with contextlib.suppress(OSError):
                    os.ftruncate(self.file, self.size)  # no half of a line stays
            raise explain(error, self.path) from None
        self.size += len(line)
        if os.fstat(self.file).st_nlink == 0:
            raise InputError(
                "answers are lost: this file was removed while a job was writing to it",
                file=self.path,
                remedy="leave the folder to the jobs; run again, and what is lost is asked again",
            )
        if time.monotonic() - self.synced > SYNC_SECONDS:
            os.fsync(self.file)
            self.synced = time.monotonic()

    def close(self) -> None:
        """Have all of it on the disk."""
        if self.file >= 0:
            with contextlib.suppress(OSError):  # the disk is full: it ends as after a kill
                os.fsync(self.file)
            os.close(self.file)
            self.file = -1


def explain(error: OSError, path: Path) -> InputError:
    """Explain an error of the file system to the person whose run it stops."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return InputError(
            "the disk is full; nothing recorded so far is lost",
            file=path,
            remedy="free some space and run again: finished calls are not repeated",
        )
    return InputError(f"the ledger cannot be written: {error.strerror}", file=path, remedy="check the folder's rights")


def lineage_of(value: object) -> Iterator[str]:
    """Ledger keys anywhere in rows of captions and perturbations."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "lineage":
                yield from inner.values() if isinstance(inner, dict) else (inner,)
            else:
                yield from lineage_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from lineage_of(inner)
