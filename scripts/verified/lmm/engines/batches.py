"""Engine `openai` with `batch`: calls are sent as files and answered together, by a provider within a day for less
money.

All calls are drawn first and written to files; the batches are then waited for. Unanswered calls of a batch (failed for
now, expired, or missing) are sent in another one, up to `retries` times. The batches of a killed job continue, and the
next job that needs any of their calls waits for them and sends nothing twice, also if the first died while sending: the
provider's lists are searched first. At the budget's limit, running batches are cancelled; their answers so far are
read.
"""

import dataclasses
import itertools
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.io.files import atomic_path
from verified.lmm.engines.batch_files import (
    ANSWERS,
    REASON,
    REQUESTS,
    Batch,
    Store,
    read_result,
    reduced_line,
    refused_batch,
    request_line,
    result_rows,
)
from verified.lmm.engines.openai import OpenAI, mask_key
from verified.lmm.engines.protocol import DETAIL, Unreadable, path_of
from verified.lmm.request import NotNow, Reply, Request, is_passing
from verified.runtime.secrets import redact

log = logging.getLogger("verified")
Found = TypeVar("Found")

WINDOW = "24h"
"""Within which a provider answers; the only one that OpenAI knows."""
NO_SUCH_THING = (404, 405, 501)
"""Statuses of an endpoint without such a file, batch or path."""
NO_BATCHES = "leave `batch` out"
OVER = ("completed", "failed", "expired", "cancelled")
"""States of a batch that do not change any more."""
STATES = (*OVER, "validating", "in_progress", "finalizing", "cancelling")
MOST_ANSWER_BYTES = 2 * 2**30
"""Of one file of answers."""
LISTED = 1000
"""Files and batches of the provider, the latest first, among which an interrupted job's are looked for."""


def make(role: EngineSettings, generation: Generation) -> "Batches":
    """The engine `openai` of a role whose calls go in batches."""
    return Batches(role, Provider(role), Store(Path(generation.ledger)))


class Batches:
    """Engine `openai` in batches.

    `first_wait` and `longest_wait` are the seconds between two looks, which double from the one to the other.
    """

    name = "openai"

    def __init__(
        self,
        role: EngineSettings,
        provider: "Provider",
        store: Store,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
    ):
        self.role, self.provider, self.store = role, provider, store
        self.model, self.revision, self.address = role.model, role.revision, provider.address
        self.first_wait, self.longest_wait = first_wait, longest_wait
        self.running: dict[str, Batch] | None = None
        self.cancelled = False
        self.rejected_fields = set[str]()

    def holds(self, key: str) -> bool:
        """Whether a batch on disk has the call, and its answer was not recorded yet."""
        return key in self._running_batches()

    def _running_batches(self) -> dict[str, Batch]:
        if self.running is None:
            self.running = {}
            for batch in self.store.batches():
                if batch.is_answered or batch.state["address"] == self.provider.address:
                    self.running |= dict.fromkeys(batch.keys - batch.read, batch)
                else:
                    log.info("batch %s is under way at %s and not looked at", batch.name, batch.state["address"])
        return self.running

    def cancel(self) -> None:
        """Cancel running batches of this process and of ended ones."""
        if not self.cancelled:
            self.cancelled = True
            for batch in self.store.batches():
                if not batch.is_answered and batch.is_orphaned and batch.state["address"] == self.provider.address:
                    _try(lambda batch=batch: self.provider.cancel(batch), f"batch {batch.name} is not cancelled")

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Replies as batches are answered, each naming its request."""
        self.running, self.cancelled = None, False
        work = _Waiting(self)
        for batch in self.store.write(self.provider.address, work.draw(requests)):
            work.add(batch)
            work.look(batch)  # the next file is written while it is under way
        pause = self.first_wait
        while work.batches:
            answered = [batch for batch in list(work.batches.values()) if work.look(batch)]
            for batch in answered:
                yield from work.take(batch)
                pause = self.first_wait
            if work.batches and not answered:
                time.sleep(pause)
                pause = min(2 * pause, self.longest_wait)
        yield from work.leave()


class _Waiting:
    """The calls of one `answer`, and the batches that they are in."""

    def __init__(self, engine: Batches):
        self.engine, self.provider = engine, engine.provider
        self.requests: dict[str, Request] = {}
        self.batches: dict[str, Batch] = {}
        self.sent = Counter[str]()
        self.failure: InputError | None = None

    def draw(self, requests: Iterable[Request]) -> Iterator[tuple[str, bytes]]:
        """Take all calls; lines for those that no batch has yet."""
        for request in requests:
            self.requests[request.key] = request
            held = self.engine._running_batches().get(request.key)
            if held is not None:
                self.batches[held.name] = held
            else:
                yield request.key, reduced_line(request_line(request, self.engine.role), self.engine.rejected_fields)

    def add(self, batch: Batch) -> None:
        """Wait for a new batch too."""
        self.batches[batch.name] = batch
        self.sent.update(batch.keys)

    def look(self, batch: Batch) -> bool:
        """Whether a batch was answered; one that was not sent before a stop is given up, others stay under way."""
        unsent = batch.state["batch"] is None
        if self.failure is None and not (self.engine.cancelled and unsent):
            try:
                return self.provider.look(batch)
            except NotNow:
                raise
            except InputError as error:
                self.failure, unsent = error, batch.state["batch"] is None
        if batch.is_answered:
            return True
        del self.batches[batch.name]
        if unsent and batch.is_orphaned:
            batch.remove()
        return False

    def take(self, batch: Batch) -> Iterator[Reply]:
        """The replies of an answered batch; its unanswered calls are added to another one."""
        del self.batches[batch.name]
        mine = batch.keys & self.requests.keys() - batch.read
        missing = {
            key: Reply("", "error", REASON, "the batch has ended without an answer to this call") for key in mine
        }
        for key, row in result_rows(batch.path(ANSWERS)):
            if key not in missing:  # unknown, doubled, or of another job
                continue
            reply = self._read(row, self.requests[key])
            if is_passing(reply.finish, reply.reason):
                missing[key] = reply
                continue
            del missing[key]
            yield from self._give(batch, key, reply)
        again = frozenset(key for key in missing if self._is_retried(key))
        for key in missing.keys() - again:
            yield from self._give(batch, key, missing[key])
        if again:
            reasons = Counter(missing[key].detail[:60] for key in again).most_common(1)[0][0]
            log.info("batch %s: %d of %d calls are retried (%s)", batch.name, len(again), len(mine), reasons)
            lines = ((key, reduced_line(line, self.engine.rejected_fields)) for key, line in batch.lines(again))
            for new in self.engine.store.write(self.provider.address, lines):
                self.add(new)
            batch.mark(again)
        if batch.drop_if_read():
            _try(lambda: self.provider.tidy(batch), f"files of batch {batch.name} stay at {self.provider.address}")

    def _read(self, row: dict, request: Request) -> Reply:
        try:
            reply = read_result(row, request, self.engine.role)
        except InputError as error:
            self.failure = self.failure or error
            return Reply("", "error", "endpoint", redact(str(error))[:DETAIL])
        for field in set(reply.notes.get("untaken", ())) - self.engine.rejected_fields:
            self.engine.rejected_fields.add(field)
            log.warning("%s does not take %s, its calls go without it: %s", self.engine.model, field, reply.detail)
        return mask_key(reply)

    def _is_retried(self, key: str) -> bool:
        return self.failure is None and not self.engine.cancelled and self.sent[key] <= self.engine.role.retries

    def _give(self, batch: Batch, key: str, reply: Reply) -> Iterator[Reply]:
        if self.engine.cancelled and reply.reason == REASON:
            reply = dataclasses.replace(reply, reason="budget", detail="the batch was cancelled: the budget is spent")
        without = {"untaken": sorted(self.engine.rejected_fields)} if self.engine.rejected_fields else {}
        notes = {**reply.notes, **without, "batch": batch.state["batch"] or batch.name}
        yield dataclasses.replace(reply, notes=notes, request=self.requests.pop(key))
        batch.mark([key])  # the requesting job has recorded it

    def leave(self) -> Iterator[Reply]:
        """Replies to all calls without one. Raises the error that stopped the work."""
        reason = "budget" if self.failure is None else "endpoint"
        detail = redact(str(self.failure or "the budget is spent"))[:DETAIL]
        for request in self.requests.values():
            yield Reply("", "error", reason, detail, request=request)
        if self.failure is not None:
            raise self.failure


class Provider:
    """OpenAI's Files and Batches, and compatible providers."""

    def __init__(self, role: EngineSettings, first_wait: float = 0.5, longest_wait: float = 120.0):
        self.role, self.endpoint = role, OpenAI(role, first_wait, longest_wait)
        self.address, self.client = self.endpoint.address, self.endpoint.client
        self.logged: dict[str, Any] = {}

    def reach(self) -> None:
        """Raise InputError where the endpoint has no batches."""
        self._do(lambda: self._create(lambda: self.client.batches.list(limit=1)))

    def look(self, batch: Batch) -> bool:
        """Send the batch, if it is not sent, or poll it; returns whether its answers are on disk."""
        if batch.is_answered:
            return True
        if batch.state["batch"] is None:
            self._send(batch)
            return False
        name = batch.state["batch"]
        found = self._do(lambda: self._find(lambda: _state(self.client.batches.retrieve(_name(name)))))
        if found is None:
            log.warning("batch %s: %s does not know it any more; it is sent again", batch.name, self.address)
            batch.save(file=None, batch=None, sending=False, beginning=False)
            return False
        status, counts = str(found.status), found.request_counts
        done = status, getattr(counts, "completed", None), getattr(counts, "failed", None)
        if self.logged.get(batch.name) != done:
            self.logged[batch.name] = done
            log.info(
                "batch %s: %s, %s of %d calls answered, %s failed",
                batch.name,
                done[0],
                done[1],
                len(batch.keys),
                done[2],
            )
        if status == "failed":
            return self._failed(batch, found)
        if status not in OVER:
            return False
        batch.save(files=[name for name in (found.output_file_id, found.error_file_id) if name])
        with atomic_path(batch.path(ANSWERS)) as temporary:
            self._do(lambda: self._fetch(batch.state["files"], temporary), MOST_ANSWER_BYTES)
        return True

    def _failed(self, batch: Batch, found: Any) -> bool:
        """A batch that was not accepted: later, where too much is under way already."""
        data = getattr(found.errors, "data", None) or []
        errors = [{name: getattr(error, name, None) for name in ("code", "line", "message")} for error in data]
        batch.save(batch=None)
        if any("limit" in str(error["code"]) for error in errors):
            log.info("batch %s: %s; it waits", batch.name, redact(str(errors[0]["message"]))[:DETAIL])
            return False
        raise refused_batch(errors, self.address)

    def _send(self, batch: Batch) -> None:
        """Send the file and begin the batch, unless that was done before."""
        with batch.locked():
            if batch.state["file"] is None:
                batch.save(file=self._do(lambda: _name((self._sent_file(batch) or self._send_file(batch)).id)))
            if batch.state["batch"] is None:
                batch.save(batch=self._do(lambda: _name((self._created_batch(batch) or self._begin(batch)).id)))
        log.info(
            "batch %s: %d calls are sent to %s as %s", batch.name, len(batch.keys), self.address, batch.state["batch"]
        )

    def _send_file(self, batch: Batch) -> Any:
        batch.save(sending=True)
        with batch.path(REQUESTS).open("rb") as file:
            return self._create(lambda: self.client.files.create(file=(f"{batch.name}.jsonl", file), purpose="batch"))

    def _sent_file(self, batch: Batch) -> Any:
        """The provider's file, if an upload was started whose end is unknown."""
        if not batch.state.get("sending"):
            return None
        size = batch.path(REQUESTS).stat().st_size
        files = self._create(lambda: itertools.islice(self.client.files.list(purpose="batch", limit=100), LISTED))
        return next((file for file in files if file.filename == f"{batch.name}.jsonl" and file.bytes == size), None)

    def _begin(self, batch: Batch) -> Any:
        batch.save(beginning=True)
        endpoint: Any = f"/v1{path_of(self.role)}"
        create, file = self.client.batches.create, batch.state["file"]
        return self._create(lambda: create(input_file_id=file, endpoint=endpoint, completion_window=WINDOW))

    def _created_batch(self, batch: Batch) -> Any:
        """The provider's batch of the file, if one was created whose name is unknown."""
        if not batch.state.get("beginning"):
            return None
        found = self._create(lambda: itertools.islice(self.client.batches.list(limit=100), LISTED))
        return next((one for one in found if one.input_file_id == batch.state["file"] and one.status != "failed"), None)

    def _fetch(self, files: list[str], into: Path) -> None:
        with into.open("wb") as out:
            for name in files:
                with self.client.files.with_streaming_response.content(_name(name)) as answer:
                    for piece in answer.iter_bytes(2**16):
                        out.write(piece)
                out.write(b"\n")

    def cancel(self, batch: Batch) -> None:
        """Stop the provider from answering more of it."""
        batch.look()
        if batch.state["batch"]:
            log.info("batch %s is cancelled", batch.name)
            name = _name(batch.state["batch"])
            self._do(lambda: self._accepted(lambda: self.client.batches.cancel(name)))

    def tidy(self, batch: Batch) -> None:
        """Remove the files at the provider, which hold pictures of videos."""
        for name in filter(None, (batch.state["file"], *batch.state.get("files", ()))):
            self._do(lambda name=name: self._accepted(lambda: self.client.files.delete(name)))

    def _create(self, call: Callable[[], Found]) -> Found:
        """Result of `call`. Raises InputError if the endpoint has no batches."""
        if (found := self._find(call)) is None:
            raise InputError(f"{self.address} has no /files or no /batches", remedy=NO_BATCHES)
        return found

    def _find(self, call: Callable[[], Found]) -> Found | None:
        """Result of `call`, or None if the provider does not know the object."""
        try:
            return call()
        except self.endpoint.errors.APIStatusError as error:
            if error.status_code in NO_SUCH_THING:
                return None
            raise

    def _accepted(self, call: Callable[[], object]) -> None:
        """Do `call` if possible: a batch may be over, a file deleted."""
        try:
            call()
        except (
            self.endpoint.errors.NotFoundError,
            self.endpoint.errors.ConflictError,
            self.endpoint.errors.BadRequestError,
        ) as error:
            log.info("%s: %s", self.address, redact(str(error))[:DETAIL])

    def _do(self, call: Callable[[], Found], most_bytes: int = 0) -> Found:
        """Retry `call` until the endpoint succeeds. Raises NotNow for an outage, InputError for a refusal."""
        self.endpoint.begin()
        while True:
            done: list[Found] = []
            once = partial(self._once, call, done)
            reply = self.endpoint.repeat(once, seconds=self.role.outage_seconds, most_bytes=most_bytes)
            if done:
                return done[0]
            if not is_passing(reply.finish, reply.reason):
                raise InputError(f"{self.address}: {reply.reason}: {reply.detail}", remedy=NO_BATCHES)

    def _once(self, call: Callable[[], Found], done: list[Found]) -> Reply:
        try:
            done.append(call())
        except (ValueError, AttributeError, TypeError, self.endpoint.errors.APIResponseValidationError) as error:
            raise Unreadable(f"the endpoint's answer cannot be read: {error!r}"[:DETAIL]) from None
        return Reply("")


def _try(work: Callable[[], None], otherwise: str) -> None:
    """Do `call`, on which no answer depends; a failure is logged."""
    try:
        work()
    except InputError as error:
        log.warning("%s: %s", otherwise, error)


def _state(found: Any) -> Any:
    """A batch as the provider shows it. Raises Unreadable for anything else."""
    if found.status not in STATES:
        raise Unreadable(f"{str(found.status)[:40]!r} is not the state of a batch")
    return found


def _name(value: object) -> str:
    """The provider's name of a file or batch, which becomes part of an address. Raises Unreadable for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"[\w.:-]{1,200}", value) or ".." in value:
        raise Unreadable(f"{str(value)[:40]!r} is not the name of a file or batch")
    return value
