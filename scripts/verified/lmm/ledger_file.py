"""The ledger's file: an SQLite database that is never written to where others see it.

SQLite's own locks, and in WAL mode its memory, may reach no further than one machine, and then two of them lose each
other's rows without an error. So jobs record in parts of their own (see `ledger_parts`), and the file is replaced as a
whole by a copy that holds more: what the parts have gained is folded in, under a lock that holds between machines (see
`lock_file`). The table `folded` says how far each part is held by this very file: whoever is killed at whatever moment,
nothing is lost and nothing counts twice.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from verified.errors import InputError
from verified.io.format_version import require_version
from verified.lmm import ledger_parts
from verified.lmm.ledger_row import COLUMNS, Row, is_sound, merge
from verified.lmm.outcome import STATUSES
from verified.runtime.lock_file import LockFile, exclusive, owner

SCHEMA_VERSION = 1
ROWS = f"""(
 key TEXT PRIMARY KEY, task TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, engine TEXT NOT NULL,
 status TEXT NOT NULL CHECK (status IN ({", ".join(f"'{status}'" for status in STATUSES)})),
 reason TEXT NOT NULL, detail TEXT NOT NULL, finish TEXT NOT NULL, text TEXT NOT NULL, attempts INTEGER NOT NULL,
 tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL NOT NULL,
 notes TEXT NOT NULL, prompt TEXT NOT NULL, media TEXT NOT NULL, sampling TEXT NOT NULL, schema TEXT NOT NULL,
 created REAL NOT NULL
) WITHOUT ROWID
"""
TABLE = f"CREATE TABLE IF NOT EXISTS calls {ROWS}"
CASSETTES = "CREATE TABLE IF NOT EXISTS cassettes (sha256 TEXT PRIMARY KEY)"
FOLDED = "CREATE TABLE IF NOT EXISTS folded (part TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID"
SMALL = 16 * 2**20
"""Bytes up to which a ledger is copied for each part that has ended."""
SHARE = 8
"""A larger one is copied when the parts hold at least this fraction of it: a row is copied a few times in a run."""
AT_ONCE = 10_000
"""Rows of a part that are put in by the order of their keys: neighbours share a page."""
CACHE = "PRAGMA cache_size = -65536"
"""64 MB, so that the inner pages of a ledger of millions of calls stay in memory."""

Result = TypeVar("Result")


NAMES = ", ".join(COLUMNS)
VALUES = ", ".join("?" * len(COLUMNS))


_values = itemgetter(*COLUMNS)


def keep(connection: sqlite3.Connection, row: Row, table: str = "calls") -> None:
    """Put a row into a table, in the place of another one of its key."""
    connection.execute(f"INSERT OR REPLACE INTO {table} ({NAMES}) VALUES ({VALUES})", _values(row))


def keep_new(connection: sqlite3.Connection, row: Row) -> bool:
    """Put a row into the table unless there is one of its key; whether it was put there."""
    return connection.execute(f"INSERT OR IGNORE INTO calls ({NAMES}) VALUES ({VALUES})", _values(row)).rowcount > 0


def find(connection: sqlite3.Connection, key: str, table: str = "calls") -> Row | None:
    """The row of a key as it stands there, sound or not."""
    found = connection.execute(f"SELECT {NAMES} FROM {table} WHERE key = ?", (key,)).fetchone()
    return dict(zip(COLUMNS, found)) if found else None


def connect(path: Path) -> sqlite3.Connection:
    """Open for reading, without locks: nobody writes to this file. Raises InputError for another version."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, timeout=60, isolation_level=None
    )
    connection.text_factory = _text
    connection.execute(CACHE)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    remedy = "export it with the version that wrote it, or set generation.ledger to a new file"
    require_version(version, SCHEMA_VERSION, "ledger", path, remedy)
    return connection


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:  # damage, to be found by whoever looks at the row
        return value


def signature(path: Path) -> tuple[int, ...]:
    """Tells a file from the one that replaces it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise InputError("the ledger was removed while it was in use", file=path, remedy="run again") from None
    return found.st_ino, found.st_mtime_ns, found.st_size


def folded_bytes(connection: sqlite3.Connection) -> dict[str, int]:
    """How many bytes of each part the file holds."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'folded'").fetchone():
        return {}
    return dict(connection.execute("SELECT part, bytes FROM folded"))


def is_due(path: Path, held: dict[str, int]) -> bool:
    """Whether folding is worth a copy of the file, or only a part is to be removed that the file holds all of."""
    size = path.stat().st_size
    waiting = {name: part - held.get(name, 0) for name, part in ledger_parts.sizes(path).items()}
    ended = [waiting[name] for name in waiting if _is_over(path, name)]
    return bool(ended and (size <= SMALL or max(ended) <= 0)) or sum(waiting.values()) * SHARE >= size


def rewrite(path: Path, patience: float, change: Callable[[sqlite3.Connection], Result] | None = None) -> Result | None:
    """Fold in what the parts have gained, make a `change`, and remove the parts that have ended.

    Makes the file where there is none. Does nothing and returns None where other processes are at it for `patience`
    seconds. Raises InputError when the disk is full.
    """
    folder = ledger_parts.folder_of(path)
    try:
        with exclusive(folder / "lock", patience) as lock:
            result = _rewrite(path, lock, change) if lock else None
    except OSError as error:
        raise ledger_parts.explain(error, path) from None
    with contextlib.suppress(OSError):
        folder.rmdir()  # only when it is empty
    return result


def _rewrite(path: Path, lock: LockFile, change: Callable[[sqlite3.Connection], Result] | None) -> Result | None:
    held, result = {}, None
    if is_made(path):
        with contextlib.closing(connect(path)) as connection:
            held = folded_bytes(connection)
    sizes = ledger_parts.sizes(path)
    if change or not is_made(path) or any(size > held.get(name, 0) for name, size in sizes.items()):
        for left in lock.path.parent.glob("*.new"):
            left.unlink(missing_ok=True)
        new = lock.path.with_name(f"{owner()}-{lock.file}.new")
        try:
            with contextlib.closing(_private_copy(path, new)) as connection:
                lock.renew()
                connection.execute("BEGIN")
                held = {name: fold(connection, path, name, held.get(name, 0), lock.renew) for name in sizes}
                result = change(connection) if change else None
                connection.execute("COMMIT")
            if not _publish(new, path, lock):
                return None
        finally:
            new.unlink(missing_ok=True)
    for name, size in ledger_parts.sizes(path).items():
        if size <= held.get(name, 0) and _is_over(path, name):
            (ledger_parts.folder_of(path) / name).unlink(missing_ok=True)
    return result


def _private_copy(path: Path, new: Path) -> sqlite3.Connection:
    """A copy of the file, open for writing; a crash costs the copy only, so SQLite need not prepare for one."""
    if is_made(path):
        shutil.copy(path, new)
    connection = sqlite3.connect(f"{new.resolve().as_uri()}?nolock=1", uri=True, isolation_level=None)
    connection.text_factory = _text
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", CACHE, TABLE, CASSETTES, FOLDED):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    return connection


def fold(connection: sqlite3.Connection, path: Path, name: str, start: int, renew: Callable[[], None]) -> int:
    """Bring what a part of the ledger `path` has gained since byte `start` into a copy; returns how far that is now."""
    held = start
    with ledger_parts.ignore_missing():
        lines = ledger_parts.read(ledger_parts.folder_of(path) / name, start)
        while some := list(itertools.islice(lines, AT_ONCE)):
            held = some[-1][0]
            for number, row in enumerate(sorted((row for _, row in some if row), key=itemgetter("key"))):
                if not keep_new(connection, row):
                    known = find(connection, row["key"])
                    keep(connection, merge(known if known and is_sound(known) else None, row))
                if number % 1000 == 0:
                    renew()
    connection.execute("INSERT OR REPLACE INTO folded VALUES (?, ?)", (name, held))
    return held


def _publish(new: Path, path: Path, lock: LockFile) -> bool:
    """Put the copy into the file's place, all of it on the disk first; False where the lock was taken away."""
    if lock.holds():
        with new.open("rb") as file:
            os.fsync(file.fileno())
    if not lock.holds():
        return False
    new.replace(path)
    with contextlib.suppress(OSError):  # some file systems cannot
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True


def _is_over(path: Path, name: str) -> bool:
    with ledger_parts.ignore_missing():
        return ledger_parts.is_ended(ledger_parts.folder_of(path) / name)
    return False


def is_made(path: Path) -> bool:
    """Whether there is a file that holds anything."""
    return path.is_file() and path.stat().st_size > 0
