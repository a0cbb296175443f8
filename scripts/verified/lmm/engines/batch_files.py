"""Files of batches: their lines in the format of OpenAI's Batches, and their state on disk.

A line is JSON, one call. A request: ``custom_id`` (the ledger key), ``method``, ``url``, ``body``. A result:
``custom_id``, ``response`` with ``status_code`` and ``body``, ``error``. Results come in any order; for a failed call,
OpenAI's line has the error in its body, vLLM's outside it, and a timed-out call has no response at all.

The state is in the folder NAME.batches next to the ledger, so that the job after a killed one sends nothing twice: for
each batch the requests, the answers when they arrive, the state (keys, address, the provider's names of file and
batch), and the keys whose answers a job has recorded. A batch has the name of the process that made it. It is removed
when all of it is read.
"""

import contextlib
import itertools
import json
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

from verified.config.generation import EngineSettings
from verified.errors import InputError
from verified.io.files import write_text
from verified.lmm.engines.guarded_http import MOST_BYTES
from verified.lmm.engines.protocol import (
    DETAIL,
    Unreadable,
    body_of,
    path_of,
    read_answer,
    read_refusal,
    reduced_body,
    rejected_field,
)
from verified.lmm.ledger_files import explain
from verified.lmm.request import Reply, Request
from verified.runtime.lock_file import exclusive, has_ended, owner
from verified.runtime.secrets import redact

REASON = "batch"
"""Reason of calls that a batch did not answer: they are retried."""


def request_line(request: Request, role: EngineSettings) -> bytes:
    """A call as a line of the file that is sent."""
    row = {"custom_id": request.key, "method": "POST", "url": f"/v1{path_of(role)}", "body": body_of(request, role)}
    return json.dumps(row, ensure_ascii=True).encode("ascii") + b"\n"


def reduced_line(line: bytes, without: Collection[str]) -> bytes:
    """A line whose body has no field that the model does not take."""
    if not without:
        return line
    row = json.loads(line)
    row["body"] = reduced_body(row["body"], without)
    return json.dumps(row, ensure_ascii=True).encode("ascii") + b"\n"


def result_rows(file: Path) -> Iterator[tuple[str, dict]]:
    """(key, row) of each line with a key; unreadable lines are skipped, and so count as unanswered."""
    with file.open("rb") as lines:
        while line := lines.readline(MOST_BYTES):
            try:
                row = json.loads(line)
                key = row["custom_id"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            if isinstance(key, str):
                yield key, row


def read_result(row: dict, request: Request, role: EngineSettings) -> Reply:
    """The reply in a line, to be retried without a field that the model does not accept.

    Raises InputError if no further call can succeed.
    """
    response = row.get("response")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    try:
        if status == 200 and not row.get("error"):
            return read_answer(json.dumps(body).encode("utf-8"), request, role)
    except (Unreadable, RecursionError) as error:
        return Reply("", "error", "garbage", redact(str(error))[:DETAIL])
    error = _error(body) or _error(row.get("error")) or {}
    message = redact(str(error.get("message") or error or "no answer"))
    if isinstance(status, int) and (field := rejected_field(status, error, message, body_of(request, role))):
        return Reply("", "error", REASON, message[:DETAIL], notes={"untaken": [field]})
    if isinstance(status, int) and status >= 400:
        return read_refusal(status, error, message, request, role)
    return Reply("", "error", REASON, f"{redact(str(error.get('code') or 'failed'))}: {message}"[:DETAIL])


def _error(value: Any) -> dict | None:
    """An error in any of its forms: text, itself, or wrapped as the body of an error answer has it."""
    if isinstance(value, str):
        return {"message": value}
    if isinstance(value, dict):
        return _error(value["error"]) if "error" in value else value
    return None


def refused_batch(errors: list[dict], address: str) -> InputError:
    """The error of a batch that the provider does not accept."""
    text = "; ".join(
        f"line {error['line']}: {error['message']}" if error.get("line") else str(error.get("message"))
        for error in errors[:3]
    )
    return InputError(
        f"{address} refuses the batch: {redact(text)[:DETAIL] or 'it does not say why'}",
        remedy="correct the role, or leave `batch` out; all answers so far are kept",
    )


MOST_ROWS, MOST_FILE_BYTES = 50_000, 190_000_000
"""Of one file: OpenAI takes 50,000 calls and 200 MB."""
REQUESTS, ANSWERS, STATE, READ, LOCK, PARTIAL = (
    ".requests.jsonl",
    ".answers.jsonl",
    ".json",
    ".read",
    ".lock",
    ".partial",
)

_numbers = itertools.count(1)


class Batch:
    """One batch: its files, and `state`, which `save` changes on disk too."""

    def __init__(self, folder: Path, name: str, state: dict[str, Any]):
        self.folder, self.name, self.state = folder, name, state
        self.keys: frozenset[str] = frozenset(state["keys"])
        self.read: set[str] = set()
        """Keys whose answers are recorded, or requested elsewhere."""

    def path(self, suffix: str) -> Path:
        """One of its files."""
        return self.folder / f"{self.name}{suffix}"

    @property
    def is_answered(self) -> bool:
        """Whether its answers are here."""
        return self.path(ANSWERS).is_file()

    @property
    def is_orphaned(self) -> bool:
        """Whether the process that made it has ended, or is this one."""
        mine = self.name.rpartition("-")[0]
        return mine == owner() or has_ended(mine)

    def save(self, **values: Any) -> None:
        """Change the state."""
        self.state |= values
        write_text(self.path(STATE), json.dumps(self.state))

    def look(self) -> None:
        """Read the changes of other processes."""
        with contextlib.suppress(OSError, ValueError):
            self.state = json.loads(self.path(STATE).read_text(encoding="utf-8"))
        with contextlib.suppress(OSError):
            self.read |= set(self.path(READ).read_text(encoding="ascii").split())

    def mark(self, keys: Iterable[str]) -> None:
        """Record that these calls need no answer here."""
        fresh = [key for key in keys if key not in self.read]
        if fresh:
            with self.path(READ).open("a", encoding="ascii") as file:
                file.write("".join(f"{key}\n" for key in fresh))
            self.read |= set(fresh)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Lock the batch for sending, with its current state."""
        with exclusive(self.path(LOCK)):
            self.look()
            yield

    def lines(self, keys: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """(key, line) of the requests of `keys`."""
        with self.path(REQUESTS).open("rb") as file:
            for line in file:
                if (key := json.loads(line)["custom_id"]) in keys:
                    yield key, line

    def drop_if_read(self) -> bool:
        """Remove it where every answer that it has is recorded; whether it was."""
        self.look()
        if any(key in self.keys and key not in self.read for key, _ in result_rows(self.path(ANSWERS))):
            return False
        self.remove()
        return True

    def remove(self) -> None:
        """Remove its files, the state first: without it there is no batch."""
        for suffix in (STATE, REQUESTS, ANSWERS, READ, LOCK):
            self.path(suffix).unlink(missing_ok=True)


class Store:
    """The batches of a ledger."""

    def __init__(self, ledger: Path, most_rows: int = MOST_ROWS, most_bytes: int = MOST_FILE_BYTES):
        self.folder = ledger.with_name(f"{ledger.name}.batches")
        self.most_rows, self.most_bytes = most_rows, most_bytes

    def batches(self) -> list[Batch]:
        """All batches, the oldest first; incomplete ones of dead processes are removed."""
        found: list[Batch] = []
        for path in sorted(self.folder.glob(f"*{STATE}")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                state = json.loads(path.read_text(encoding="utf-8"))
                found.append(Batch(self.folder, path.name.removesuffix(STATE), state))
                found[-1].look()
        for suffix in (PARTIAL, REQUESTS):
            for path in self.folder.glob(f"*{suffix}"):
                name = path.name.removesuffix(suffix)
                if has_ended(name.rpartition("-")[0]) and not (self.folder / f"{name}{STATE}").exists():
                    path.unlink(missing_ok=True)
        return sorted(found, key=lambda batch: batch.state["created"])

    def write(self, address: str, lines: Iterable[tuple[str, bytes]]) -> Iterator[Batch]:
        """Write a batch for as many of `lines` (key, line) as fit a file, and more batches for the rest.

        Lines are drawn one by one and not stored.
        """
        source = iter(lines)
        first = next(source, None)
        while first is not None:
            name = f"{owner()}-{next(_numbers)}"
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                partial = self.folder / f"{name}{PARTIAL}"
                keys, size, line = [], 0, first
                with partial.open("wb") as file:
                    while line and (
                        not keys or (len(keys) < self.most_rows and size + len(line[1]) <= self.most_bytes)
                    ):
                        file.write(line[1])
                        keys.append(line[0])
                        size += len(line[1])
                        line = next(source, None)
                state = {"address": address, "keys": keys, "created": time.time(), "file": None, "batch": None}
                batch = Batch(self.folder, name, state)
                partial.replace(batch.path(REQUESTS))
                batch.save()
            except OSError as error:
                raise explain(error, self.folder) from None
            first = line
            yield batch
