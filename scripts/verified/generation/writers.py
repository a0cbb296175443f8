"""Who writes to a ledger, and which call each has recorded last: how a lost or foreign -wal file is noticed.

SQLite keeps the latest commits in a file beside the database, NAME-wal, until they are brought over. A job that ends in
order brings them over; after a kill they stand there only. Whoever removes that file, or puts another's in its place,
takes answers out of the ledger without a trace. So each job keeps a mark beside the ledger, NAME.writers/MACHINE-PID,
with the key of its last call, written after the commit, and removes it when it ends in order.
"""

import contextlib
import os
import platform
from collections.abc import Callable
from pathlib import Path

from verified.common.errors import InputError

KEY = 64
"""Hex digits of a key."""
WAL_HEADER = 32
"""Bytes of a -wal file without commits."""


def folder_of(ledger: Path) -> Path:
    """Where the marks of a ledger stand."""
    return ledger.with_name(f"{ledger.name}.writers")


def check_wal(ledger: Path) -> None:
    """Raise InputError for a -wal file with commits beside a ledger that nobody has left unfinished."""
    wal = ledger.with_name(f"{ledger.name}-wal")
    if wal.is_file() and wal.stat().st_size > WAL_HEADER and not _marks(ledger):
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
        folder = folder_of(ledger)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{platform.node() or 'host'}-{os.getpid()}"
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)

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
                if machine == platform.node() and pid.isdigit() and not Path("/proc", pid).exists():
                    mark.unlink(missing_ok=True)
            folder_of(ledger).rmdir()  # only when it is empty


def _marks(ledger: Path) -> list[Path]:
    folder = folder_of(ledger)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _key(mark: Path) -> str:
    try:
        return mark.read_text(encoding="ascii", errors="replace")
    except OSError:  # gone in between, or a folder
        return ""
