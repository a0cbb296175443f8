"""What is wrong with a ledger or a cassette, row by row, and what can be saved of a damaged ledger."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError
from verified.lmm import ledger_file, ledger_parts
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_row import faults_of, is_sound


def faults(ledger: Ledger) -> Iterator[str]:
    """What is wrong with a ledger, one line each: damage of the file, lost answers, calls that are not as written."""
    try:
        for row in ledger.connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                yield f"the file is damaged: {row[0]}"
        for row in ledger.all_rows():
            for fault in faults_of(row):
                yield f"{str(row['key'])[:64]}: {fault}"
        if ledger.damaged:
            yield f"{ledger.damaged} lines of the parts in {ledger_parts.folder_of(ledger.path)} are damaged"
    except (InputError, sqlite3.DatabaseError) as error:
        yield getattr(error, "problem", f"the file is damaged: {error}")


def rescue(damaged: str | os.PathLike, new: str | os.PathLike) -> tuple[int, int]:
    """Bring the calls of a damaged ledger that can be read, and are stored under their own key, into a new file.

    Each of 256 ranges of keys is read from both of its ends, so that a damaged page costs what is on it. Returns how
    many calls were saved and in how many ranges something could not be read. Raises InputError when `new` exists.
    """
    damaged = Path(damaged)
    if not damaged.is_file():
        raise InputError("no such ledger", file=damaged)
    if Path(new).exists():
        raise InputError("this file is there already", file=new, remedy="name a new one")
    source = sqlite3.connect(f"{damaged.resolve().as_uri()}?mode=ro", uri=True)
    source.row_factory = sqlite3.Row

    def save(connection: sqlite3.Connection) -> int:
        broken, held = 0, {}
        for prefix in (f"{number:02x}" for number in range(256)):
            rows, whole = _readable(source, prefix)
            broken += not whole
            for row in filter(is_sound, rows.values()):
                ledger_file.keep(connection, row)
        with contextlib.suppress(sqlite3.DatabaseError):
            held = ledger_file.folded_bytes(source)
        for name in ledger_parts.sizes(damaged):
            ledger_file.fold(connection, damaged, name, held.get(name, 0), lambda: None)
        return broken

    with contextlib.closing(source):
        broken = ledger_file.rewrite(Path(new), 0.0, save)
    if broken is None:
        raise InputError("others are writing this file", file=new, remedy="name a new one")
    with Ledger(new, read_only=True) as ledger:
        return int(ledger.totals()["calls"]), broken


def _readable(source: sqlite3.Connection, prefix: str) -> tuple[dict[str, dict], bool]:
    """Rows by key whose keys begin with `prefix`, and whether these are all."""
    rows: dict[str, dict] = {}
    for order in ("ASC", "DESC"):
        query = f"SELECT * FROM calls WHERE key >= ? AND key < ? ORDER BY key {order}"
        try:
            for row in source.execute(query, (prefix, prefix + "g")):
                rows[row["key"]] = dict(row)
        except sqlite3.DatabaseError:
            continue
        return rows, True
    return rows, False
