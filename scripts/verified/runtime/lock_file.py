"""Locks between machines, and names of processes by which other machines and later runs recognise them.

A lock is a file that only one process can create (O_EXCL), which the file server decides: locks of the operating system
may reach no further than their own machine (Lustre with localflock, NFS with nolock or local_lock) or not exist. Its
owner renews it in a thread. The next process breaks it if the owner has ended, or has not renewed it for `STALE`
seconds.
"""

import contextlib
import functools
import hashlib
import os
import platform
from collections.abc import Generator
from pathlib import Path

from filelock import SoftFileLease, Timeout

from verified.errors import InputError
from verified.runtime.processes import start_of

STALE = 600.0
"""Seconds without renewal after which a lock of another machine counts as stale."""
WAIT = 0.02
"""Seconds between two attempts to take a lock."""


@contextlib.contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Hold the lock `path`; makes its folder. Raises InputError if others keep it for twice the life of a stale one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock = SoftFileLease(path, lease_duration=STALE, poll_interval=WAIT).acquire(2 * STALE)
    except Timeout:
        remedy = "see which jobs run; if none does, remove this file"  # an empty one, of a power cut, has no owner
        raise InputError("others keep this locked", file=path, remedy=remedy) from None
    with lock:
        yield


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
