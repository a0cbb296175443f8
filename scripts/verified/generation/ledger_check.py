"""What is wrong with a ledger or a cassette, row by row, and what can be saved of a damaged ledger."""

import contextlib
import json
import math
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from verified.common.errors import InputError
from verified.generation import writers
from verified.generation.ledger import COLUMNS, Ledger, key_of
from verified.generation.outcome import STATUSES

INTEGERS = ("attempts", "tokens_in", "tokens_out")
REALS = ("seconds", "cost", "created")
JSON = {"notes": dict, "media": list, "sampling": dict}
MOST = 2**53
"""Largest count or amount: larger whole numbers are no longer exact in JSON and tables, and sums overflow."""


def faults_of(row: dict) -> Iterator[str]:
    """What is wrong with one call, in words; nothing where it is as a run writes it."""
    for name in COLUMNS:
        value = row.get(name)
        if name in INTEGERS:
            fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST
        elif name in REALS:
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            fits = fits and math.isfinite(value) and 0 <= value < MOST
        else:
            fits = isinstance(value, str)
        if not fits:
            yield f"{name} is {str(value)[:40]!r}"
            return
    if row["status"] not in STATUSES:
        yield f"the status {row['status'][:40]!r} is none of {', '.join(STATUSES)}"
    if key_of(row) != row["key"]:
        yield f"the content of this {row['task'][:40]} call belongs to another key"
    for name, kind in JSON.items():
        try:
            fits = isinstance(json.loads(row[name]), kind)
        except (ValueError, RecursionError):
            fits = False
        if not fits:
            yield f"{name} is not a JSON {'object' if kind is dict else 'array'}"
    if row["status"] == "ok" and not row["text"].strip():
        yield "recorded as ok without an answer"


def faults(ledger: Ledger) -> Iterator[str]:
    """What is wrong with a ledger, one line each: damage of the file, lost answers, calls that are not as written."""
    try:
        for row in ledger.connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                yield f"the file is damaged: {row[0]}"
        if lost := writers.missing(ledger.path, ledger._holds):
            yield writers.explain(ledger.path, lost).problem
        for row in ledger.rows():
            for fault in faults_of(dict(row)):
                yield f"{str(row['key'])[:64]}: {fault}"
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
    broken = 0
    with contextlib.closing(source), Ledger(new) as ledger:
        for prefix in (f"{number:02x}" for number in range(256)):
            rows, whole = _readable(source, prefix)
            broken += not whole
            ledger.put_many(row for row in rows.values() if not any(faults_of(row)))
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
