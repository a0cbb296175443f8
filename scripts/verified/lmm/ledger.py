"""The ledger: every call and its outcome, content-addressed: nothing is asked twice, nothing is lost.

It is a folder of parts (see `ledger_files`): each job appends to its own and reads all. Nothing is shared, so machines
need no lock, and after SIGKILL only calls whose answers had not arrived yet are asked again. An open ledger holds in
memory where the lines of each call are; a line is read, and checked, when its call is asked for. A damaged one counts
as never asked.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from verified.errors import InputError
from verified.io.files import require_version
from verified.lmm.ledger_files import (
    COLUMNS,
    END,
    HEAD,
    SUFFIX,
    TOTALS,
    VERSION,
    Part,
    Row,
    explain,
    faults_of,
    ignore_missing,
    is_answer,
    is_over,
    is_place,
    is_sound,
    is_whole,
    key_in,
    line_of,
    merge,
    storable,
    value_of,
)
from verified.runtime.lock_file import owner

log = logging.getLogger("verified")

CHUNK = 8192
MOST_OPEN = 64
"""Parts that are held open for reading."""

Place = tuple[str, int]
"""Where a line begins: name of the part, byte."""


class Ledger:
    """An open ledger; one that is not there yet is made with its first outcome.

    `damaged` holds the places of the damaged lines that were met so far. Raises InputError for what is no ledger, or is
    from another version.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise InputError("cannot be used as a ledger, which is a folder", file=path, remedy="name another one")
        self.part = Part(self.path)
        self.damaged: set[Place] = set()
        self._void: set[Place] = set()
        self._index: dict[bytes, tuple[Place, ...]] = {}
        self._read: dict[str, int] = {}
        """Bytes of each part that are in the index."""
        self._ended: set[str] = set()
        self._files: dict[str, BinaryIO] = {}
        self._totals: Counter[str] | None = None
        """Sums over the index, once they are asked for."""
        self._look()

    def _look(self) -> bool:
        """Take in what was recorded since the last look; whether there was anything."""
        gained = False
        with ignore_missing(), os.scandir(self.path) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(SUFFIX) and name not in self._ended:
                    with ignore_missing():
                        if os.stat(entry.path).st_size > self._read.get(name, 0):
                            gained |= self._take_in(name)
        return gained

    def _take_in(self, name: str) -> bool:
        """Index the lines of a part that are new and whole.

        Where its owner may still be writing, reading stops before the first line that is not: what a machine sends to
        a file server does not arrive in order.
        """
        path = self.path / name
        begin = at = self._read.setdefault(name, 0)
        with path.open("rb", buffering=1 << 20) as file:
            file.seek(at)
            for line in file:
                if not is_whole(line):
                    if not is_over(path):
                        break
                    if (name, at) not in self._void:
                        self.damaged.add((name, at))
                elif key := key_in(line):
                    self._add(key, (name, at))
                elif line == END:
                    self._ended.add(name)
                elif not self._obey(value_of(line), path):
                    self.damaged.add((name, at))
                at += len(line)
                self._read[name] = at
        return at > begin

    def _add(self, key: bytes, place: Place) -> None:
        if place not in self._void:
            self._index[key] = (*self._index.get(key, ()), place)
            if self._totals is not None and (row := self._row(place)):
                self._totals.update({name: row[name] for name in TOTALS})

    def _obey(self, value: object, path: Path) -> bool:
        """Read a line about the part, or about lines that do not count any more; whether it is one."""
        match value:
            case {"version": stated}:
                remedy = "export it with the version that wrote it, or set generation.ledger to a new folder"
                require_version(stated, VERSION, "ledger", path, remedy)
            case {"void": [*places]} if all(map(is_place, places)):
                for place in map(tuple, places):
                    self._void.add(place)
                    self.damaged.discard(place)
                    if key := key_in(self._line(place)):
                        self._drop(key, place)
                self._totals = None
            case _:
                return False
        return True

    def _drop(self, key: bytes, place: Place) -> None:
        if left := tuple(other for other in self._index.get(key, ()) if other != place):
            self._index[key] = left
        else:
            self._index.pop(key, None)

    def _line(self, place: Place) -> bytes:
        name, at = place
        if name not in self._files:
            if len(self._files) >= MOST_OPEN:
                self._close_files()
            with ignore_missing():
                self._files[name] = (self.path / name).open("rb", buffering=0)
        if (file := self._files.get(name)) is None:
            return b""
        line = b""
        while not line.endswith(b"\n") and (more := os.pread(file.fileno(), CHUNK, at + len(line))):
            line += more[: more.find(b"\n") + 1 or None]
        return line

    def _row(self, place: Place) -> Row | None:
        """The outcome at a place, checked; None where it is damaged."""
        line = self._line(place)
        if is_whole(line) and is_sound(row := cast(Row, value_of(line))):
            return row
        self.damaged.add(place)
        return None

    def _rows(self, key: bytes) -> list[Row]:
        """The sound outcomes of a call's attempts, in an order that is the same for all readers."""
        return [row for place in sorted(self._index.get(key, ())) if (row := self._row(place))]

    def get(self, key: str) -> Row | None:
        """The row of a call, whatever its status, or None."""
        row = merge(self._rows(key.encode()))
        return merge(self._rows(key.encode())) if row is None and self._look() else row

    def put(self, row: Row) -> Row:
        """Record the outcome of an attempt; returns the updated row.

        Attempts, tokens, seconds and cost add up; the rest is replaced unless the row is already ``ok``. Raises
        ValueError for a row that no run writes.
        """
        row = {name: storable(row[name]) if isinstance(row[name], str) else row[name] for name in COLUMNS}
        for fault in faults_of(row):
            raise ValueError(f"not an outcome of a call: {fault}")
        self._look()
        self._append(row)
        return cast(Row, merge(self._rows(row["key"].encode())))

    def _append(self, value: Row | dict[str, object]) -> None:
        self.part.append(value)
        self._take_in(self.part.path.name)

    def load_once(self, sha256: str, rows: Iterable[Row]) -> int:
        """Take over the rows of the cassette with this digest, unless that was done before; returns how many it had.

        A row replaces what the ledger holds of the same call, unless that is ``ok``. They become a part of their own.
        """
        name = f"cassette-{sha256}{SUFFIX}"
        self._look()
        if name in self._read:
            return 0
        count, void = 0, []
        new = self.path / f"{owner()}.{name}.new"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                file.write(HEAD)
                for row in rows:
                    count += 1
                    held = self._rows(row["key"].encode())
                    if not any(map(is_answer, held)):
                        file.write(line_of({column: row[column] for column in COLUMNS}))
                        void += self._index.get(row["key"].encode(), ())
                file.write(line_of({"void": void}) + END)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path / name)
        except OSError as error:
            raise explain(error, self.path) from None
        finally:
            new.unlink(missing_ok=True)
        self._look()
        return count

    def forget(self, status: str, reason: str = "") -> int:
        """Let the calls not count that ended with `status` and, unless it is empty, `reason`; returns how many.

        The status ``damaged`` is that of damaged lines.
        """
        self._look()
        keys = [
            row["key"].encode()
            for row in self.rows(None if status == "damaged" else status)
            if row["status"] == status and reason in ("", row["reason"])
        ]
        void = sorted(self.damaged) if status == "damaged" else [place for key in keys for place in self._index[key]]
        if void:
            self._append({"void": void})
        return len(void) if status == "damaged" else len(keys)

    def rows(self, status: str | None = None) -> Iterator[Row]:
        """All sound rows in the order of their keys, or those of one status."""
        for key in sorted(self._index):
            if (row := merge(self._rows(key))) and status in (None, row["status"]):
                yield row

    def totals(self) -> dict[str, float]:
        """Calls, attempts, tokens, seconds and cost over the whole ledger."""
        self._look()
        if self._totals is None:
            self._totals = Counter(dict.fromkeys(TOTALS, 0))
            for place in sorted(place for places in self._index.values() for place in places):
                if row := self._row(place):
                    self._totals.update({name: row[name] for name in TOTALS})
        return {"calls": len(self._index), **self._totals}

    def summary(self) -> list[Row]:
        """One row per task, model, status and reason with counts and totals."""
        groups = ("task", "model", "status", "reason")
        sums: dict[tuple[str, ...], Counter[str]] = {}
        for row in self.rows():
            group = sums.setdefault(tuple(row[name] for name in groups), Counter(dict.fromkeys(("calls", *TOTALS), 0)))
            group.update({"calls": 1, **{name: row[name] for name in TOTALS}})
        return [{**dict(zip(groups, group)), **sums[group]} for group in sorted(sums)]

    def faults(self) -> Iterator[str]:
        """What is wrong with a ledger, one line each."""
        for place in sorted(place for places in self._index.values() for place in places):
            self._row(place)
        for name, at in sorted(self.damaged):
            yield f"{self.path / name}: the line at byte {at:,} is damaged, and its call counts as never asked"

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def close(self) -> None:
        """End the part of this job, and close."""
        self._close_files()
        self.part.end()
        if self.damaged:
            log.warning("%s: %d damaged lines count as not asked", self.path, len(self.damaged))

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
