"""The ledger: every call and its outcome, content-addressed: nothing is asked twice, nothing is lost.

A file (see `ledger_file`), and beside it a part for each job at work (see `ledger_parts`), to which an outcome is
appended as it arrives: after SIGKILL, only calls whose answers had not arrived yet are asked again. Several jobs may
write at once, on several machines; each sees what the others have recorded. Rows are checked when they are read: a
damaged one counts as never asked.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from verified.errors import InputError
from verified.lmm import ledger_file, ledger_parts
from verified.lmm.ledger_file import NAMES, ROWS
from verified.lmm.ledger_row import COLUMNS, LATEST, TOTALS, Row, faults_of, is_answer, is_sound, merge, storable

log = logging.getLogger("verified")

EVERYTHING = f"""
CREATE TEMP VIEW everything AS
SELECT {NAMES} FROM temp.recent UNION ALL
SELECT {NAMES} FROM main.calls WHERE key NOT IN (SELECT key FROM temp.recent)
"""
"""The rows of the parts, merged with the file's, and the file's other rows."""
PATIENCE = 2.0
"""Seconds that a job which ends waits for others that are folding; the next job does what it leaves."""
LONG_PATIENCE = 2 * 600.0


class Ledger:
    """An open ledger.

    `damaged` counts rows that were passed over. Raises InputError when the file is not a ledger, is damaged, is from
    another version, or its disk is full.
    """

    def __init__(self, path: str | os.PathLike, read_only: bool = False):
        self.path, self.read_only = Path(path), read_only
        if self.path.is_symlink():
            self.path = self.path.resolve()
        self.part, self.parts = ledger_parts.Part(self.path), ledger_parts.Listing(self.path)
        self._damaged: set[str] = set()
        self.connection: sqlite3.Connection
        if read_only and not self.path.is_file():
            raise InputError("no such ledger", file=path, remedy="it appears with the first caption")
        try:
            if not read_only:
                self._make()
            self._open()
            if not read_only and ledger_file.is_due(self.path, self.held):
                self._fold(0.0)
                self._look()
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"cannot be used as a ledger: {error}",
                file=path,
                remedy="move the file away to begin a new ledger; `verified ledger rescue` saves what can be read",
            ) from None

    @property
    def damaged(self) -> int:
        """How many damaged rows were found so far."""
        return len(self._damaged)

    def _make(self) -> None:
        """Make the file."""
        end = time.monotonic() + LONG_PATIENCE
        while not ledger_file.is_made(self.path):
            ledger_file.rewrite(self.path, 1.0)
            if time.monotonic() > end:
                raise InputError("others keep the ledger locked", file=ledger_parts.folder_of(self.path) / "lock")

    def _open(self) -> None:
        """Open the file as it is now, and read what the parts hold beyond it."""
        # Parts that go while we look are in the file that we find afterwards.
        sizes, self.signature = self.parts.sizes(), ledger_file.signature(self.path)
        self.connection = ledger_file.connect(self.path)  # one that is still being read from closes with its reader
        self.held = ledger_file.folded_bytes(self.connection)
        for statement in ("PRAGMA temp.journal_mode = OFF", f"CREATE TEMP TABLE recent {ROWS}", EVERYTHING, "BEGIN"):
            self.connection.execute(statement)
        self.seen = dict(self.held)
        self._take_in(sizes)

    def _look(self) -> bool:
        """Take in what others have recorded since the last look; whether there was anything."""
        gained = self._take_in(self.parts.sizes())
        if ledger_file.signature(self.path) != self.signature:
            self._open()
            return True
        return gained

    def _fold(self, patience: float) -> None:
        """Fold the parts in; where that cannot be done, nothing is lost, and the next job tries again."""
        try:
            ledger_file.rewrite(self.path, patience)
        except (InputError, sqlite3.DatabaseError) as error:
            log.warning("%s: answers stay in %s: %s", self.path, ledger_parts.folder_of(self.path), error)

    def _take_in(self, sizes: dict[str, int]) -> bool:
        gained = False
        for name, size in sizes.items():
            if size > self.seen.get(name, 0):
                with ledger_parts.ignore_missing():
                    for at, row in ledger_parts.read(ledger_parts.folder_of(self.path) / name, self.seen.get(name, 0)):
                        if row:
                            ledger_file.keep(self.connection, merge(self._find(row["key"]), row), "temp.recent")
                        elif row is None:
                            self._damaged.add(f"{name} before {at}")
                        self.seen[name], gained = at, True
        return gained

    def _find(self, key: str) -> Row | None:
        row = ledger_file.find(self.connection, key, "temp.recent")
        if row is None and (row := ledger_file.find(self.connection, key, "main.calls")) and not is_sound(row):
            self._damaged.add(key)
            return None
        return row

    def _run(self, query: str, values: Sequence = ()) -> list[sqlite3.Row]:
        """All rows of a query over `everything`."""
        return self._guard(lambda: self.connection.execute(query, values).fetchall())

    def _guard(self, work: Callable):
        """Do it; once more where the file was replaced meanwhile, which some file systems answer with an error.

        Raises InputError for a damaged file.
        """
        try:
            return work()
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            if ledger_file.signature(self.path) == self.signature:
                raise _damage_error(error, self.path) from None
        try:
            self._open()
            return work()
        except sqlite3.DatabaseError as error:
            raise _damage_error(error, self.path) from None

    def get(self, key: str) -> Row | None:
        """The row of a call, whatever its status, or None."""
        return self._guard(lambda: self._get(key))

    def _get(self, key: str) -> Row | None:
        row = self._find(key)
        return self._find(key) if row is None and self._look() else row

    def put(self, row: Row) -> Row:
        """Record the outcome of an attempt; returns the updated row.

        Attempts, tokens, seconds and cost add up; the rest is replaced unless the row is already ``ok``. Raises
        ValueError for a row that no run writes.
        """
        row = {name: storable(row[name]) if isinstance(row[name], str) else row[name] for name in COLUMNS}
        for fault in faults_of(row):
            raise ValueError(f"not an outcome of a call: {fault}")
        return self._guard(lambda: self._put(row))

    def _put(self, row: Row) -> Row:
        self._look()
        known = self._find(row["key"])
        if known and is_answer(known):  # whichever is folded first then
            row = {**row, **{name: known[name] for name in LATEST}}
        stored = merge(known, row)
        self.part.append(row)
        self.seen[self.part.path.name] = self.part.size
        ledger_file.keep(self.connection, stored, "temp.recent")
        return stored

    def _change(self, change: Callable[[sqlite3.Connection], int]) -> int:
        """Fold everything in and change the file. Raises InputError where others keep it locked, or a full disk."""
        count = self._guard(lambda: ledger_file.rewrite(self.path, LONG_PATIENCE, change))
        if count is None:
            raise InputError("others keep the ledger locked", file=ledger_parts.folder_of(self.path) / "lock")
        self._guard(self._look)
        return count

    def load_once(self, sha256: str, rows: Iterable[Row]) -> int:
        """Take over the rows of the cassette with this digest, unless that was done before; returns how many it had.

        A row replaces what the ledger holds of the same call, unless that is ``ok``.
        """
        known = "SELECT 1 FROM cassettes WHERE sha256 = ?"

        def change(connection: sqlite3.Connection) -> int:
            if connection.execute(known, (sha256,)).fetchone():
                return 0
            count = 0
            for row in rows:
                held = ledger_file.find(connection, row["key"])
                if held is None or not is_answer(held) or not is_sound(held):
                    ledger_file.keep(connection, row)
                count += 1
            connection.execute("INSERT INTO cassettes VALUES (?)", (sha256,))
            return count

        return 0 if self._run(known, (sha256,)) else self._change(change)

    def forget(self, status: str, reason: str = "") -> int:
        """Remove the calls that ended with `status` and, unless it is empty, `reason`; returns how many."""
        where, values = ("status = ? AND reason = ?", (status, reason)) if reason else ("status = ?", (status,))
        return self._change(lambda connection: connection.execute(f"DELETE FROM calls WHERE {where}", values).rowcount)

    def rows(self, status: str | None = None) -> Iterator[Row]:
        """All sound rows in the order of their keys, or those of one status."""
        for row in self.all_rows(status):
            if is_sound(row):
                yield row
            else:
                self._damaged.add(str(row["key"]))

    def all_rows(self, status: str | None = None) -> Iterator[Row]:
        """The same, damaged ones too."""
        where, values = ("WHERE status = ?", (status,)) if status else ("", ())
        try:
            for row in self.connection.execute(f"SELECT {NAMES} FROM everything {where} ORDER BY key", values):
                yield dict(zip(COLUMNS, row))
        except sqlite3.DatabaseError as error:
            raise _damage_error(error, self.path) from None

    def totals(self) -> dict[str, float]:
        """Calls, attempts, tokens, seconds and cost over the whole ledger."""
        self._guard(self._look)
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in TOTALS)
        return dict(zip(("calls", *TOTALS), self._run(f"SELECT count(*), {sums} FROM everything")[0]))

    def summary(self) -> list[dict]:
        """One row per task, model, status and reason with counts and totals."""
        groups = ("task", "model", "status", "reason")
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in TOTALS)
        counted = f"SELECT {', '.join(groups)}, count(*), {sums} FROM everything"
        rows = self._run(f"{counted} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4")
        return [dict(zip((*groups, "calls", *TOTALS), row)) for row in rows]

    def close(self) -> None:
        """End the part of this job, fold it in where that is worth it and nobody else is at it, and close."""
        self.connection.close()
        if self.damaged:
            log.warning("%s: %d damaged rows count as not asked", self.path, self.damaged)
        if self.part.size:
            self.part.end()
            if ledger_file.is_due(self.path, self.held):
                self._fold(PATIENCE)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _damage_error(error: sqlite3.DatabaseError, path: Path) -> InputError:
    """What an error of SQLite means for the person whose run it stops."""
    return InputError(
        f"the ledger is damaged: {error}",
        file=path,
        remedy=f"`verified ledger verify --ledger {path}` says how far; "
        f"`verified ledger rescue --ledger {path} --output NEW` brings what can be read into a new one",
    )
