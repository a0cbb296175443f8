"""Who writes to a ledger, and which call each has recorded last: how a lost or foreign -wal file is noticed.

SQLite keeps the latest commits in a file beside the database, NAME-wal, until they are moved into it. A job that ends
normally moves them; after a kill they exist only there. Removing that file, or putting another one in its place, takes
answers out of the ledger without a trace. So each job keeps a mark beside the ledger, NAME.writers/MACHINE-PID, with
the key of its last call, written after the commit, and removes it when it ends normally.
"""

import contextlib
import itertools
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from verified.common.errors import InputError

KEY = 64
"""Hex digits of a key."""
WAL_HEADER = 32
"""Size in bytes of a -wal file without commits."""
LOOKS = 5
"""How often a suspicious -wal file is looked at, a tenth of a second apart."""

_opened = itertools.count(1)


def folder_of(ledger: Path) -> Path:
    """The folder of a ledger's marks."""
    return ledger.with_name(f"{ledger.name}.writers")


def check_wal(ledger: Path) -> None:
    """Raise InputError for a -wal file with commits beside a ledger that no job has left unfinished."""
    wal = ledger.with_name(f"{ledger.name}-wal")
    for _ in range(LOOKS):  # a job that ends just now takes first the one away and then the other
        if _marks(ledger) or not _has_commits(wal):
            return
        time.sleep(0.1)
    if not _marks(ledger) and _has_commits(wal):
        raise InputError(
            f"it is not of the ledger {ledger.name}, which was closed in order and has none",
            file=wal,
            remedy=f"move it away; where you know better, `mkdir -p {folder_of(ledger)}/known-wal` has it taken over",
        )


def missing(ledger: Path, holds: Callable[[str], bool]) -> list[str]:
    """Writers whose last call the ledger does not hold any more."""
    return [mark.name for mark in _marks(ledger) if len(key := _key(mark)) == KEY and not holds(key)]


def explain(ledger: Path, writers: list[str]) -> InputError:
    """What is to be said of `missing` writers."""
    return InputError(
        f"answers are lost: the last call that {' and '.join(writers)} recorded is not there any more",
        file=ledger,
        remedy=f"{ledger.name}-wal was removed or is another's, or an older copy of the ledger was put back: restore "
        f"them; or remove the folder {folder_of(ledger)}, and what is lost is asked again",
    )


class Mark:
    """The mark of this process."""

    def __init__(self, ledger: Path):
        self.path = folder_of(ledger) / f"{platform.node() or 'host'}-{os.getpid()}.{next(_opened)}"
        self.file = self._create()

    def _create(self) -> int:
        for _ in range(1000):  # another job may take the empty folder away at any moment
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        raise InputError("no file can be made in this folder", file=self.path.parent)

    def note(self, key: str) -> None:
        """Remember the last call. One write of one length: a kill leaves the old key or the new one."""
        os.pwrite(self.file, key.encode("ascii", "replace"), 0)

    def release(self, ledger: Path, settled: bool) -> None:
        """End in order; where all commits are `settled`, marks of killed jobs of this machine go as well."""
        os.close(self.file)
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
            for mark in _marks(ledger) if settled else ():
                machine, _, pid = mark.name.rpartition("-")
                pid = pid.partition(".")[0]
                if machine == platform.node() and pid.isdigit() and not Path("/proc", pid).exists():
                    mark.unlink(missing_ok=True)
            folder_of(ledger).rmdir()  # only when it is empty


def _has_commits(wal: Path) -> bool:
    try:
        return wal.stat().st_size > WAL_HEADER
    except OSError:
        return False


def _marks(ledger: Path) -> list[Path]:
    try:
        return sorted(folder_of(ledger).iterdir())
    except OSError:
        return []


def _key(mark: Path) -> str:
    try:
        return mark.read_text(encoding="ascii", errors="replace")
    except OSError:  # gone in between, or a folder
        return ""
