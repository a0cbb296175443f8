"""A lock between machines: a file that only one process can create.

Locks of the operating system end with their process, but on a network file system they may reach no further than their
own machine (Lustre with localflock, NFS with nolock or local_lock) or not exist. The file server decides the exclusive
creation of a file (O_EXCL). The file names its owner: if that process has ended, or has not renewed the lock for
`STALE` seconds, the next one breaks the lock. An owner therefore renews it, and checks before its last step that it
still `holds` it.
"""

import contextlib
import functools
import hashlib
import os
import platform
import time
from collections.abc import Generator
from pathlib import Path

from verified.runtime.processes import start_of

STALE = 600.0
"""Seconds without renewal after which a lock of another machine counts as stale."""
WAIT = 0.02
LONG_PATIENCE = 2 * STALE
"""Seconds to wait for locks that jobs hold briefly: longer than the life of a stale lock."""


def owner() -> str:
    """The name of this process, by which others check whether it `has_ended`: HOST-PLACE-PID-START.

    PLACE tells apart machines of one name, times between boots, and containers that count processes for themselves;
    START, in the kernel's clock ticks, tells apart processes that had the same number.
    """
    return f"{_place()}-{os.getpid()}-{start_of(os.getpid())}"


def has_ended(name: str) -> bool:
    """Whether the `owner` of this name has ended; False for other machines, whose processes are unknown."""
    place, _, process = name.rpartition("-")
    place, _, pid = place.rpartition("-")
    return place == _place() and pid.isdigit() and process not in ("", "0") and start_of(int(pid)) != process


@functools.cache
def _place() -> str:
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return f"{platform.node() or 'host'}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:8]}"


class LockFile:
    """A lock that this process acquired."""

    def __init__(self, path: Path, file: int):
        self.path, self.file = path, file

    def holds(self) -> bool:
        """Whether this process still owns the lock."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self.file))
        except OSError:
            return False

    def renew(self) -> None:
        """Renew the lock: its owner is alive."""
        os.utime(self.file)

    def release(self) -> None:
        """Release the lock."""
        if self.holds():
            self.path.unlink(missing_ok=True)
        os.close(self.file)


@contextlib.contextmanager
def exclusive(path: Path, patience: float) -> Generator[LockFile | None]:
    """Hold the lock `path`, or yield None if others keep it for `patience` seconds. Makes the folder."""
    lock, end = _take(path), time.monotonic() + patience
    while lock is None and time.monotonic() < end:
        time.sleep(WAIT)
        lock = _take(path)
    try:
        yield lock
    finally:
        if lock:
            lock.release()


def _take(path: Path) -> LockFile | None:
    name = owner().encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:  # another process removed the empty folder
        return None
    except FileExistsError:
        return _take(path) if _clear(path) else None
    os.write(file, name)
    return LockFile(path, file)


def _clear(path: Path) -> bool:
    """Break a stale lock, and only that one: another process may be doing the same."""
    aside, cleared = path.with_name(f"{path.name}.{owner()}.left"), False
    with contextlib.suppress(OSError):
        found = path.stat()
        if has_ended(path.read_text(errors="replace")) or _now(aside) - found.st_mtime > STALE:
            path.rename(aside)
            cleared = os.path.samestat(found, aside.stat())
            if not cleared:  # a new lock, made in the meantime: restore it
                os.link(aside, path)
    aside.unlink(missing_ok=True)
    return cleared


def _now(beside: Path) -> float:
    """The time of the file server, whose clock may differ from ours."""
    beside.touch()
    return beside.stat().st_mtime
