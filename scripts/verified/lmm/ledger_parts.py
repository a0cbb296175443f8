"""Parts of a ledger: each job appends its outcomes to a file that nobody else writes to.

They lie in the folder NAME.parts beside the ledger. A line holds one outcome: a checksum and the row as JSON. So any
process on any machine can read a part while it grows, and tells apart what is whole, what is cut off and what a lost
machine has left empty. A part is named after its owner, whose last line says that it has ended.
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
from verified.lmm.ledger_row import Row, is_sound
from verified.runtime.lock_file import has_ended, owner

SUFFIX = ".part"
SYNC_SECONDS = 5.0
"""At most so long does an outcome wait for the way to the file server, from where other machines see it."""
SILENT = 600.0
"""Seconds after which a line that is not whole will not become so: its machine has sent what it had."""
LISTED_SECONDS = 1.0
"""Seconds after which a folder is read again even if it seems unchanged: its time is kept in coarse steps."""
MANY, PAUSE = 16, 0.1
"""Where there are more parts than this, they are looked at once in so many seconds and not for every call."""
ABANDONED = 7 * 86400.0
"""Seconds without a word after which an owner on another machine counts as ended."""

_numbers = itertools.count(1)


def folder_of(ledger: Path) -> Path:
    """The folder of a ledger's parts."""
    return ledger.with_name(f"{ledger.name}.parts")


@contextlib.contextmanager
def ignore_missing() -> Iterator[None]:
    """A part may be folded in and removed at any moment; a file server says so in a way of its own."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE):
            raise


class Listing:
    """The parts of a ledger as they grow; the folder is read only when it has changed."""

    def __init__(self, ledger: Path):
        self.folder = folder_of(ledger)
        self.names: list[str] = []
        self.changed, self.listed = 0, float("-inf")
        self.found: dict[str, int] = {}
        self.looked = float("-inf")

    def sizes(self) -> dict[str, int]:
        """Size in bytes of each part, by name."""
        now = time.monotonic()
        if len(self.found) > MANY and now - self.looked < PAUSE:
            return self.found
        with contextlib.suppress(FileNotFoundError):
            changed = os.stat(self.folder).st_mtime_ns
            if changed != self.changed or now - self.listed > LISTED_SECONDS:
                self.changed, self.listed = changed, now
                self.names = sorted(name for name in os.listdir(self.folder) if name.endswith(SUFFIX))
        found = {}
        for name in self.names:
            with ignore_missing():
                found[name] = os.stat(f"{self.folder}/{name}").st_size
        self.found, self.looked = found, now
        return found


def sizes(ledger: Path) -> dict[str, int]:
    """Size in bytes of each part, by name."""
    return Listing(ledger).sizes()


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _line(value: Row | str) -> bytes:
    text = _json(value).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


END = _line("end")


class Part:
    """The part of this process, made with its first outcome."""

    def __init__(self, ledger: Path):
        self.path = folder_of(ledger) / f"{owner()}-{next(_numbers)}{SUFFIX}"
        self.file, self.size, self.synced = -1, 0, time.monotonic()

    def append(self, row: Row) -> None:
        """Record an outcome: it outlives this process; a power cut can undo the last `SYNC_SECONDS`.

        Raises InputError when the disk is full, or somebody has removed the part.
        """
        self._write(_line(row))
        if os.fstat(self.file).st_nlink == 0:
            raise InputError(
                "answers are lost: this file was removed while a job was writing to it",
                file=self.path,
                remedy="leave the folder to the jobs; run again, and what is lost is asked again",
            )
        if time.monotonic() - self.synced > SYNC_SECONDS:
            self._sync()

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
                self.file = self._create()
            done = 0
            while done < len(line):
                done += os.pwrite(self.file, line[done:], self.size + done)
        except OSError as error:
            if self.file >= 0:
                with contextlib.suppress(OSError):
                    os.ftruncate(self.file, self.size)  # no half of a line stays
            raise explain(error, self.path) from None
        self.size += len(line)

    def _create(self) -> int:
        for _ in range(1000):  # another job may take the empty folder away at any moment
            with contextlib.suppress(FileExistsError):  # pathlib raises it where the folder goes while it looks
                self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        raise InputError("no file can be made in this folder", file=self.path.parent)


def explain(error: OSError, path: Path) -> InputError:
    """What an error of the file system means for the person whose run it stops."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return InputError(
            "the disk is full; nothing recorded so far is lost",
            file=path,
            remedy="free some space and run again: finished calls are not repeated",
        )
    return InputError(f"the ledger cannot be written: {error.strerror}", file=path, remedy="check the folder's rights")


def read(path: Path, start: int = 0) -> Iterator[tuple[int, Row | None]]:
    """Yield (position behind the line, row) for each line after `start`; the row is None where the line is damaged.

    Where the owner may still be writing, reading stops before the first line that is not whole: what a machine sends
    to a file server does not arrive in order. The last line of an owner that has ended holds an empty row.
    """
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            whole = line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])
            if not whole and not (is_ended(path) or _silence(path) > SILENT):
                return
            start += len(line)
            yield start, _row(line) if whole else None


def _row(line: bytes) -> Row | None:
    if line == END:
        return {}
    row = json.loads(line[9:])
    return row if isinstance(row, dict) and is_sound(row) else None


def is_ended(path: Path) -> bool:
    """Whether its owner will write no more."""
    if has_ended(path.name.removesuffix(SUFFIX).rpartition("-")[0]) or _silence(path) > ABANDONED:
        return True
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(END)))
        return file.read() == END


def _silence(path: Path) -> float:
    return time.time() - path.stat().st_mtime
