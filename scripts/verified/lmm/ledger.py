"""The ledger: every call and its outcome, content-addressed: nothing is asked twice, nothing is lost.

It is a folder of parts (see `ledger_files`): each job appends to its own and reads all. Nothing is shared, so machines
need no lock, and after SIGKILL only calls whose answers had not arrived yet are asked again. An open ledger holds in
memory where the lines of each call are; a line is read, and checked, when its call is asked for. A damaged one counts
as never asked.
"""

import errno
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from verified.errors import InputError
from verified.io.files import require_version
from verified.lmm.ledger_files import (
    COLUMNS,
    HEAD,
    SUFFIX,
    TOTALS,
    VERSION,
    Part,
    Row,
    explain,
    faults_of,
    is_answer,
    is_whole,
    key_in,
    line_of,
    merge,
    storable,
    value_of,
)

log = logging.getLogger("verified")

CHUNK = 8192
"""Bytes that are read at once where a line begins: more than most have."""
CASSETTE = "cassette-"
"""Begins the names of parts that hold the rows of a cassette, whose SHA-256 follows."""

Place = tuple[str, int]
"""Where a line begins: name of the part, byte."""


class Ledger:
    """An open ledger; one that is not there yet is made with its first outcome.

    `damaged` holds the places of the damaged lines that were met so far. Raises InputError for a folder that is
    no ledger, or one of another version.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise InputError("cannot be used as a ledger, which is a folder", file=path, remedy="name another one")
        self.part = Part(self.path)
        self.damaged: set[Place] = set()
        self._index: dict[bytes, tuple[Place, ...]] = {}
        self._scanned: dict[str, tuple[tuple[int, int], int]] = {}
        """Bytes and time of each part when it was read, and where the next reading begins."""
        self._totals: Counter[str] | None = None
        """Sums over the index, once they are asked for."""
        self._look()

    def _look(self) -> bool:
        """Read calls recorded since the last look; whether any part has changed."""
        changed = False
        with _ignore_missing(), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX):
                    if not entry.is_file():
                        raise InputError("not a regular file, as parts are", file=entry.path, remedy="remove it")
                    stat = entry.stat()
                    state, (before, at) = (stat.st_size, stat.st_mtime_ns), self._scanned.get(entry.name, (None, 0))
                    if state != before:
                        self._scanned[entry.name] = state, self._scan(entry.name, at)
                        changed = True
        return changed

    def _scan(self, name: str, at: int) -> int:
        """Index the lines of a part from a byte on; where the next reading begins.

        That is the first line without an end or a key: it may still be on its way from its machine, from where lines
        arrive in any order. Checksums are compared when a line is asked for.
        """
        path = self.path / name
        self.damaged = {place for place in self.damaged if place[0] != name or place[1] < at}
        again = None
        with path.open("rb", buffering=1 << 20) as file:
            file.seek(at)
            for line in file:
                if line.endswith(b"\n") and (key := key_in(line)):
                    self._add(key, (name, at))
                elif at == 0 and is_whole(line):
                    stated = cast(dict[str, object], value_of(line)).get("version")
                    remedy = "export it with the version that wrote it, or set generation.ledger to a new folder"
                    require_version(stated, VERSION, "ledger", path, remedy)
                else:
                    self.damaged.add((name, at))
                    again = at if again is None else again
                at += len(line)
        return at if again is None else again

    def _add(self, key: bytes, place: Place) -> None:
        places = self._index.get(key, ())
        if place not in places:
            self._count(key, -1)
            self._index[key] = (*places, place)
            self._count(key, 1)

    def _count(self, key: bytes, sign: int) -> None:
        if self._totals is not None and (row := self._row(key)):
            self._totals.update({"calls": sign, **{name: sign * row[name] for name in TOTALS}})

    def _line(self, place: Place) -> bytes:
        name, at = place
        with _ignore_missing(), (self.path / name).open("rb", buffering=CHUNK) as file:
            file.seek(at)
            return file.readline()
        return b""

    def _row(self, key: bytes) -> Row | None:
        """The row of all sound attempts of a call, the same for all readers; None without any.

        A cassette's row replaces failures that were recorded. A line that is there twice, as in a copied part, counts
        once: attempts differ in their times.
        """
        recorded: list[Row] = []
        taken: list[Row] = []
        lines = {place: self._line(place) for place in sorted(self._index.get(key, ()))}
        for number, (place, line) in enumerate(lines.items()):
            if line in list(lines.values())[:number]:
                continue
            if is_whole(line) and key_in(line) == key and not any(faults_of(row := cast(Row, value_of(line)))):
                (taken if place[0].startswith(CASSETTE) else recorded).append(row)
                self.damaged.discard(place)
            else:
                self.damaged.add(place)
        if taken and not any(map(is_answer, recorded)):
            return min(taken, key=lambda row: not is_answer(row))
        return merge(recorded)

    def get(self, key: str) -> Row | None:
        """The row of a call, whatever its status, or None."""
        row = self._row(key.encode())
        return self._row(key.encode()) if row is None and self._look() else row

    def put(self, row: Row) -> Row:
        """Record the outcome of an attempt; returns the updated row.

        Attempts, tokens, seconds and cost add up; the rest is replaced unless the row is already ``ok``. Raises
        ValueError for a row that no run writes.
        """
        row = {name: storable(row[name]) if isinstance(row[name], str) else row[name] for name in COLUMNS}
        for fault in faults_of(row):
            raise ValueError(f"not an outcome of a call: {fault}")
        self.part.append(row)
        self._look()
        return cast(Row, self._row(row["key"].encode()))

    def load_once(self, sha256: str, rows: Iterable[Row]) -> int:
        """Take over the rows of the cassette with this digest, unless that was done before; returns how many it had.

        They become a part of their own.
        """
        name = f"{CASSETTE}{sha256}{SUFFIX}"
        if (self.path / name).exists():
            return 0
        self._write(name, (line_of({column: row[column] for column in COLUMNS}) for row in rows))
        self._look()
        return sum(place[0] == name for places in self._index.values() for place in places)

    def _write(self, name: str, lines: Iterable[bytes]) -> None:
        """Have a part hold these lines."""
        new = self.path / f"{self.part.path.stem}.new"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                file.write(HEAD)
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path / name)
        except OSError as error:
            raise explain(error, self.path) from None
        finally:
            new.unlink(missing_ok=True)

    def forget(self, status: str, reason: str = "") -> int:
        """Remove the calls that ended with `status` and, unless it is empty, `reason`; returns how many.

        The status ``damaged`` is that of damaged lines. Parts are written again without them; a job that is still
        writing to one of these ends with an error. Closes the ledger.
        """
        self._look()
        rows = [row for row in self.rows() if row["status"] == status and reason in ("", row["reason"])]
        gone = {place for row in rows for place in self._index[row["key"].encode()]}
        gone = self.damaged if status == "damaged" else gone
        for name in {name for name, _ in gone}:
            remaining, at = list[bytes](), 0
            with (self.path / name).open("rb") as file:
                for line in file:
                    if key_in(line) and (name, at) not in gone:
                        remaining.append(line)
                    at += len(line)
            self._write(name, remaining)
        count = len(gone) if status == "damaged" else len(rows)
        self.close()
        return count

    def rows(self, status: str | None = None) -> Iterator[Row]:
        """All sound rows in the order of their keys, or those of one status."""
        for key in sorted(self._index):
            if (row := self._row(key)) and status in (None, row["status"]):
                yield row

    def totals(self) -> dict[str, float]:
        """Calls, attempts, tokens, seconds and cost over the whole ledger."""
        self._look()
        if self._totals is None:
            self._totals = Counter(dict.fromkeys(("calls", *TOTALS), 0))
            for key in sorted(self._index, key=lambda key: self._index[key]):
                self._count(key, 1)
        return dict(self._totals)

    def summary(self) -> list[Row]:
        """One row per task, model, status and reason with counts and totals."""
        groups = ("task", "model", "status", "reason")
        sums: dict[tuple[str, ...], Counter[str]] = {}
        for row in self.rows():
            group = sums.setdefault(tuple(row[name] for name in groups), Counter(dict.fromkeys(("calls", *TOTALS), 0)))
            group.update({"calls": 1, **{name: row[name] for name in TOTALS}})
        return [{**dict(zip(groups, group)), **sums[group]} for group in sorted(sums)]

    def faults(self) -> Iterator[str]:
        """The faults of a ledger, one line each."""
        for key in self._index:
            self._row(key)
        yield from self.damaged_lines()

    def damaged_lines(self) -> Iterator[str]:
        """The damaged lines among those that were read, in a sentence each."""
        for name, at in sorted(self.damaged):
            yield f"{self.path / name}: the line at byte {at:,} is damaged, and its call counts as never asked"

    def close(self) -> None:
        """Close the part of this job."""
        self.part.close()
        if self.damaged:
            log.warning("%s: %d damaged lines count as not asked", self.path, len(self.damaged))

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _ignore_missing() -> Iterator[None]:
    """Pass over a part that somebody removed; a file server says so in a way of its own."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE):
            raise
