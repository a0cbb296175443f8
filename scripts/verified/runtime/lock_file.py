"""A lock that holds between machines: a file that one process makes and all others find made.

Locks of the operating system end with their process, but on a network file system they may reach no further than their
own machine (Lustre with localflock, NFS with nolock or local_lock) or not exist. Making a file that must not be there
yet (O_EXCL) is decided by the file server. The file names its owner: where that process is known to be gone, or
nothing was heard of it for `STALE` seconds, the next one takes the lock away. An owner therefore renews it, and asks
before its last step whether it still `holds` it.
"""

import contextlib
import functools
import hashlib
import os
import platform
import time
from collections.abc import Generator
from pathlib import Path

STALE = 600.0
"""Seconds without renewal after which a lock of another machine counts as left behind."""
WAIT = 0.02
LONG_PATIENCE = 2 * STALE
"""Seconds to wait for locks that jobs hold for moments: longer than a lock that was left behind stays."""


def owner() -> str:
    """This process, for others to find out whether it `has_ended`: HOST-PLACE-PID-START.

    PLACE tells apart machines of one name, times between boots, and containers that count processes for themselves;
    START, in the kernel's clock ticks, tells apart processes that had the same number.
    """
    return f"{_place()}-{os.getpid()}-{_start(os.getpid())}"


def has_ended(name: str) -> bool:
    """Whether the `owner` of this name is known to have ended; of other machines nothing is known."""
    place, _, process = name.rpartition("-")
    place, _, pid = place.rpartition("-")
    return place == _place() and pid.isdigit() and process not in ("", "0") and _start(int(pid)) != process


@functools.cache
def _place() -> str:
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return f"{platform.node() or 'host'}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:8]}"


def _start(pid: int) -> str:
    """When a live process began; "0" where there is none, or no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "0"
    return "0" if fields[0] in "ZX" else fields[19]  # dead and not yet buried


class LockFile:
    """A lock that this process has got."""

    def __init__(self, path: Path, file: int):
        self.path, self.file = path, file

    def holds(self) -> bool:
        """Whether nobody has taken it away."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self.file))
        except OSError:
            return False

    def renew(self) -> None:
        """Say that its owner is alive."""
        os.utime(self.file)

    def release(self) -> None:
        """Give it up."""
        if self.holds():
            self.path.unlink(missing_ok=True)
        os.close(self.file)


@contextlib.contextmanager
def exclusive(path: Path, patience: float) -> Generator[LockFile | None]:
    """Hold the lock `path`, or yield None where others kept it for `patience` seconds. Makes the folder."""
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
    except FileNotFoundError:  # another one took the empty folder away
        return None
    except FileExistsError:
        return _take(path) if _clear(path) else None
    os.write(file, name)
    return LockFile(path, file)


def _clear(path: Path) -> bool:
    """Take a lock away that was left behind, and no other: somebody else may be doing the same."""
    aside, cleared = path.with_name(f"{path.name}.{owner()}.left"), False
    with contextlib.suppress(OSError):
        found = path.stat()
        if has_ended(path.read_text(errors="replace")) or _now(aside) - found.st_mtime > STALE:
            path.rename(aside)
            cleared = os.path.samestat(found, aside.stat())
            if not cleared:  # a new one, made in between: back with it
                os.link(aside, path)
    aside.unlink(missing_ok=True)
    return cleared


def _now(beside: Path) -> float:
    """The time of the file server, whose clock is not ours."""
    beside.touch()
    return beside.stat().st_mtime
