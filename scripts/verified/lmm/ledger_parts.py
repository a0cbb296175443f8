"""Parts of a ledger: each job appends its outcomes to a file that nobody else writes to.

A line is a checksum and a JSON value: the version (first), an outcome (its key first), a list of lines that do not
count any more, or the end. So any process on any machine can read a part while it grows, and tells apart what is whole,
what is cut off and what a lost machine has left empty. A part is named after its owner (see `lock_file`).
"""

import contextlib
import errno
import itertools
import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError
from verified.lmm.ledger_row import VERSION, Row
from verified.runtime.lock_file import has_ended, owner

SUFFIX = ".part"
SYNC_SECONDS = 5.0
"""At most so long does an outcome wait for the way to the file server, from where other machines see it."""
SILENT = 600.0
"""Seconds after which a line that is not whole will not become so: its machine has sent what it had."""

_numbers = itertools.count(1)
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
    """What a whole line holds."""
    return json.loads(line[9:])


def is_place(value: object) -> bool:
    """Whether a value says where a line begins: name of a part, byte."""
    match value:
        case [str(name), int(at)]:
            return name.endswith(SUFFIX) and Path(name).name == name and 0 <= at < 2**60
    return False


HEAD, END = line_of({"version": VERSION}), line_of("end")


def is_over(path: Path) -> bool:
    """Whether nothing more will arrive in a part."""
    if has_ended(path.name.removesuffix(SUFFIX).rpartition("-")[0]) or time.time() - path.stat().st_mtime > SILENT:
        return True
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(END)))
        return file.read() == END


@contextlib.contextmanager
def ignore_missing() -> Iterator[None]:
    """Pass over a part that somebody removed; a file server says so in a way of its own."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE):
            raise


class Part:
    """The part of this process, made with its first line in the folder `ledger`."""

    def __init__(self, ledger: Path):
        self.path = ledger / f"{owner()}-{next(_numbers)}{SUFFIX}"
        self.file, self.size, self.synced = -1, 0, time.monotonic()

    def append(self, value: Row | dict[str, object]) -> int:
        """Record a value and return where its line begins. A power cut can undo the last `SYNC_SECONDS`.

        Raises InputError when the disk is full, or somebody has removed the part.
        """
        line = line_of(value)
        self._write(line if self.size else HEAD + line)
        if os.fstat(self.file).st_nlink == 0:
            raise InputError(
                "answers are lost: this file was removed while a job was writing to it",
                file=self.path,
                remedy="leave the folder to the jobs; run again, and what is lost is asked again",
            )
        if time.monotonic() - self.synced > SYNC_SECONDS:
            self._sync()
        return self.size - len(line)

    def end(self) -> None:
        """Say that nothing follows."""
        if self.file < 0:
            return
        with contextlib.suppress(OSError, InputError):  # the disk is full: it ends as after a kill
            self._sync()  # before the last line, which says that all others are there
            self._write(END)
            self._sync()
        os.close(self.file)
        self.file = -1

    def _sync(self) -> None:
        os.fsync(self.file)
        self.synced = time.monotonic()

    def _write(self, line: bytes) -> None:
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


def explain(error: OSError, path: Path) -> InputError:
    """What an error of the file system means for the person whose run it stops."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return InputError(
            "the disk is full; nothing recorded so far is lost",
            file=path,
            remedy="free some space and run again: finished calls are not repeated",
        )
    return InputError(f"the ledger cannot be written: {error.strerror}", file=path, remedy="check the folder's rights")
