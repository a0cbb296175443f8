"""The ledger: every call and its outcome, content-addressed: nothing is asked twice, nothing is lost.

SQLite in WAL mode. Each outcome is committed as it arrives: after SIGKILL, only calls whose answers had not arrived yet
are asked again. Several jobs may write at once; the first ``ok`` of a key stays.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from json.encoder import encode_basestring  # json.dumps(text, ensure_ascii=False) without making an encoder
from pathlib import Path

from verified.common.errors import InputError
from verified.generation import writers
from verified.generation.outcome import STATUSES
from verified.generation.request import Request

SCHEMA_VERSION = 1
COLUMNS = (
    *("key", "task", "model", "revision", "engine", "status", "reason", "detail", "finish", "text"),
    *("attempts", "tokens_in", "tokens_out", "seconds", "cost"),
    *("notes", "prompt", "media", "sampling", "schema", "created"),
)
TABLE = f"""
CREATE TABLE IF NOT EXISTS calls (
 key TEXT PRIMARY KEY, task TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, engine TEXT NOT NULL,
 status TEXT NOT NULL CHECK (status IN ({", ".join(f"'{status}'" for status in STATUSES)})),
 reason TEXT NOT NULL, detail TEXT NOT NULL, finish TEXT NOT NULL, text TEXT NOT NULL, attempts INTEGER NOT NULL,
 tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL NOT NULL,
 notes TEXT NOT NULL, prompt TEXT NOT NULL, media TEXT NOT NULL, sampling TEXT NOT NULL, schema TEXT NOT NULL,
 created REAL NOT NULL
) WITHOUT ROWID
"""
CASSETTES = "CREATE TABLE IF NOT EXISTS cassettes (sha256 TEXT PRIMARY KEY)"
TOTALS = ("attempts", "tokens_in", "tokens_out", "seconds", "cost")
LATEST = ("engine", "status", "reason", "detail", "finish", "text", "notes", "created")
PUT = f"""
INSERT INTO calls ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
ON CONFLICT (key) DO UPDATE SET
 {", ".join(f"{name} = calls.{name} + excluded.{name}" for name in TOTALS)},
 {", ".join(f"{name} = CASE calls.status WHEN 'ok' THEN calls.{name} ELSE excluded.{name} END" for name in LATEST)}
RETURNING *
"""


def parts_of(request: Request, media: Iterable[str], model: str, revision: str) -> dict[str, str]:
    """What identifies a call, as the ledger's columns hold it; `media` are digests of its images or of its clip."""
    drawn = request.sampling
    return {
        "task": request.task,
        "model": model,
        "revision": revision,
        "prompt": request.prompt,
        "media": json.dumps(list(media)),
        "sampling": _sampling(drawn.max_tokens, drawn.temperature, drawn.top_p, request.seed),
        "schema": json.dumps(request.schema, sort_keys=True) if request.schema else "",
    }


@lru_cache(64, typed=True)
def _sampling(max_tokens: int, temperature: float, top_p: float, seed: int) -> str:
    drawn = {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p, "seed": seed}
    return json.dumps(drawn, sort_keys=True)


def key_of(parts: dict[str, str]) -> str:
    """SHA-256 over the parts of a call (model id and revision, task, prompt, media, sampling with seed, schema)."""
    names = ("task", "model", "revision", "prompt", "media", "sampling", "schema")
    text = f"[{', '.join([encode_basestring(parts[name]) for name in names])}]"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ledger:
    """An open ledger file.

    Raises InputError when the file is not a ledger, is damaged, is from another version, has lost answers (see
    `writers`), or its disk is full.
    """

    def __init__(self, path: str | os.PathLike, read_only: bool = False):
        self.path, self.mark, self.connection = Path(path), None, None
        if read_only and not self.path.is_file():
            raise InputError("no such ledger", file=path, remedy="it appears with the first caption")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not read_only:
            writers.check_wal(self.path)
            self.mark = writers.Mark(self.path)
        try:
            mode = "?mode=ro" if read_only else ""
            self.connection = sqlite3.connect(
                f"{self.path.resolve().as_uri()}{mode}", uri=True, timeout=60, isolation_level=None
            )
            self.connection.row_factory = sqlite3.Row
            if not read_only:
                self._prepare()
            self._check_version()
            if not read_only and (lost := writers.missing(self.path, self._holds)):
                raise writers.explain(self.path, lost)
        except sqlite3.DatabaseError as error:
            self._abandon()
            raise InputError(
                f"cannot be used as a ledger: {error}",
                file=path,
                remedy="move the file away to begin a new ledger; `verified ledger rescue` saves what can be read",
            ) from None
        except InputError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Leave the files as they were found."""
        if self.connection:
            self.connection.close()
        self._give_up_mark()

    def _give_up_mark(self, settled: bool = False) -> None:
        if self.mark:
            self.mark.release(self.path, settled)
            self.mark = None

    def _holds(self, key: str) -> bool:
        return self.connection.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone() is not None

    def _run(self, query: str, values: Sequence = ()) -> list[sqlite3.Row]:
        """All rows of a query. Raises InputError for a full disk, a lock that stays and a damaged file."""
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            raise _named(error, self.path) from None

    def _prepare(self) -> None:
        self._enter_wal()
        # WAL with NORMAL: a commit survives the death of the process; only a power cut can undo the last ones.
        self.connection.execute("PRAGMA synchronous = NORMAL")
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        tables = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute(TABLE)
            self.connection.execute(CASSETTES)
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self.connection.execute("COMMIT")

    def _enter_wal(self) -> None:
        """Switch to WAL; SQLite does not wait for a lock here, so jobs that open a new ledger together take turns."""
        for _ in range(600):
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                time.sleep(0.1)
        raise InputError("another program keeps the ledger locked", file=self.path)

    def _check_version(self) -> None:
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise InputError(
                f"ledger of schema version {version}, this program reads version {SCHEMA_VERSION}",
                file=self.path,
                remedy="export it with the version that wrote it, or set generation.ledger to a new file",
            )

    def get(self, key: str) -> sqlite3.Row | None:
        """The row of a call, whatever its status, or None."""
        rows = self._run("SELECT * FROM calls WHERE key = ?", (key,))
        return rows[0] if rows else None

    def put(self, row: dict) -> sqlite3.Row:
        """Add the outcome of an attempt and commit; returns the updated row.

        Attempts, tokens, seconds and cost add up; the rest is replaced unless the row is already ``ok``.
        """
        stored = self._run(PUT, _values(row))[0]
        if self.mark:
            self.mark.note(stored["key"])
        return stored

    def put_many(self, rows: Iterable[dict]) -> int:
        """Add many outcomes in one transaction; returns how many."""
        count = 0
        with self._transaction():
            for row in rows:
                self.connection.execute(PUT, _values(row)).fetchone()
                count += 1
        return count

    def load_once(self, sha256: str, rows: Iterable[dict]) -> int:
        """Take over the rows of the cassette with this digest, unless that was done before; returns how many it had.

        A row replaces what the ledger holds of the same call, unless that is ``ok``.
        """
        query = (
            f"INSERT INTO calls ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT (key) DO "
            f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS)} WHERE calls.status != 'ok'"
        )
        known = "SELECT 1 FROM cassettes WHERE sha256 = ?"
        if self.connection.execute(known, (sha256,)).fetchone():
            return 0
        count = 0
        with self._transaction():
            if self.connection.execute(known, (sha256,)).fetchone():
                return 0
            for row in rows:
                self.connection.execute(query, _values(row))
                count += 1
            self.connection.execute("INSERT INTO cassettes VALUES (?)", (sha256,))
        return count

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("COMMIT")
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            raise _named(error, self.path) from None
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def rows(self, status: str | None = None) -> Iterator[sqlite3.Row]:
        """All rows in the order of their keys, or those of one status."""
        where, values = ("WHERE status = ?", (status,)) if status else ("", ())
        try:
            yield from self.connection.execute(f"SELECT * FROM calls {where} ORDER BY key", values)
        except sqlite3.DatabaseError as error:
            raise _named(error, self.path) from None

    def totals(self) -> dict[str, float]:
        """Calls, attempts, tokens, seconds and cost over the whole ledger."""
        sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in TOTALS)
        return dict(self._run(f"SELECT count(*) AS calls, {sums} FROM calls")[0])

    def summary(self) -> list[dict]:
        """One row per task, model, status and reason with counts and totals."""
        sums = ", ".join(f"sum({name}) AS {name}" for name in TOTALS)
        query = (
            f"SELECT task, model, status, reason, count(*) AS calls, {sums} FROM calls "
            "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )
        return [dict(row) for row in self._run(query)]

    def forget(self, status: str, reason: str = "") -> int:
        """Remove the calls that ended with `status` and, unless it is empty, `reason`; returns how many."""
        where, values = ("status = ? AND reason = ?", (status, reason)) if reason else ("status = ?", (status,))
        return len(self._run(f"DELETE FROM calls WHERE {where} RETURNING key", values))

    def close(self) -> None:
        """Bring what was committed over from the -wal file, and close."""
        settled = False
        if self.mark:
            with contextlib.suppress(sqlite3.Error):  # other jobs are at work, or the disk is full: it stays in -wal
                self.connection.execute("PRAGMA busy_timeout = 2000")
                settled = not self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.connection.close()
        self._give_up_mark(settled)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _values(row: dict) -> list:
    """Column values; half of a surrogate pair, which JSON can smuggle in, becomes a question mark."""
    return [
        value.encode("utf-8", "replace").decode() if isinstance(value := row[name], str) else value for name in COLUMNS
    ]


def _named(error: sqlite3.DatabaseError, path: Path) -> InputError:
    """What an error of SQLite means for the person whose run it stops."""
    text = str(error)
    if "full" in text:
        problem = "the disk is full; nothing recorded so far is lost"
        remedy = "free some space and run again: finished calls are not repeated"
    elif "locked" in text:
        problem, remedy = "another program kept the ledger locked for a minute", "look which one has it open"
    elif "readonly" in text:
        problem, remedy = "the ledger cannot be written", "check the rights of the file and of its folder"
    else:
        problem = f"the ledger is damaged: {text}"
        remedy = (
            f"`verified ledger verify --ledger {path}` says how far; `verified ledger rescue {path} NEW` brings what "
            "can be read into a new one"
        )
    return InputError(problem, file=path, remedy=remedy)
