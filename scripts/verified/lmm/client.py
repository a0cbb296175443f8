"""Ask an engine for the calls that the ledger lacks, and record every outcome."""

import dataclasses
import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from verified.config.generation import EngineSettings, SpeechSettings
from verified.lmm.budget import Budget, most_tokens
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import key_of, parts_of
from verified.lmm.request import SHORT, Engine, NotNow, Outcome, Parsed, Reply, Request, Status, is_passing
from verified.lmm.tasks import Task
from verified.lmm.thoughts import Separated, has_thought, separate
from verified.lmm.vision_tokens import picture_tokens
from verified.runtime.seeds import derive_seed

ONLY_THOUGHT = "only-thought"
"""Reason of a reply that ended before its answer began."""
READY_AT_MOST = 1000
"""Known outcomes that may pile up before they are handed out, which keeps the memory of a resumed run flat."""


@dataclasses.dataclass(eq=False, slots=True)
class Call:
    """A request of a task, with the digests of its media and the number of items wanted.

    `load` fetches the media, and is only called when the ledger lacks the call. It returns the fields of the request
    that it fills (`images`, or `frames` and `frame_times`), or raises `MediaError`.
    """

    task: Task
    request: Request
    media: tuple[str, ...] = ()
    count: int = 1
    load: Callable[[], dict] | None = None


class MediaError(Exception):
    """The images or frames of a call cannot be read; the message gives the reason."""


@dataclasses.dataclass
class _Pending:
    """A call in the engine's hands, or waiting for its next attempt."""

    call: Call
    """With its media once they are loaded."""
    key: str
    parts: dict[str, str]
    attempt: int = 1
    best: tuple[Parsed, Reply] | None = None
    request: Request | None = None
    """The request as sent, so that a reply can name it."""


@dataclasses.dataclass
class _Work:
    """The progress of the calls of one `Client.ask`."""

    calls: Iterator[tuple[int, Call]]
    drawn: bool = False
    is_sent: bool = False
    ready: deque[tuple[int, Outcome]] = dataclasses.field(default_factory=deque)
    again: deque[_Pending] = dataclasses.field(default_factory=deque)
    flying: dict[int, _Pending] = dataclasses.field(default_factory=dict)
    waiting: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    failed: dict[str, Outcome] = dataclasses.field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.drawn and not (self.again or self.flying or self.ready)

    def land(self, reply: Reply) -> _Pending:
        """The call that `reply` answers: the one it names, or the one handed out first."""
        return self.flying.pop(next(iter(self.flying)) if reply.request is None else id(reply.request))

    def settle(self, key: str, outcome: Outcome) -> None:
        """Hand the outcome to every call that waits for this key."""
        if outcome.status != "ok":
            self.failed[key] = outcome
        self.ready.extend((index, outcome) for index in self.waiting.pop(key))


class Client:
    """One engine in one role, with its ledger.

    `attempts` is the number of tries for an answer that is truncated, invalid or too short; ``blocked`` and ``error``
    are not retried here (engines retry temporary errors, such as a busy endpoint). `budget` must have room for each
    call before it is made. `go_on`: calls without an answer for now end as ``error`` instead of stopping the job.
    `make_room` is called before the first call of `ask` that the engine must answer.
    """

    def __init__(
        self,
        engine: Engine,
        ledger: Ledger,
        attempts: int = 3,
        role: EngineSettings | None = None,
        budget: Budget | None = None,
        go_on: bool = False,
        make_room: Callable[[], None] | None = None,
    ):
        self.engine, self.ledger, self.attempts = engine, ledger, attempts
        self.role, self.budget = role or EngineSettings(), budget or Budget(ledger)
        self.replay, self.go_on, self.make_room = self.role.kind.replays, go_on, make_room
        self.calls_made = self.most_seen = 0
        self.opened_before = False

    def key(self, call: Call) -> str:
        """Ledger key of a call."""
        return key_of(parts_of(call.request, call.media, self.engine.model, self.engine.revision))

    def has_answer(self, call: Call) -> bool:
        """Whether the ledger holds a final outcome, so that no media need to be loaded."""
        return self._recall(self.key(call), call) is not None

    def ask(self, calls: Iterable[Call]) -> Iterator[tuple[int, Outcome]]:
        """Yield (position of the call, outcome) as outcomes arrive; identical calls are made once.

        Calls are drawn lazily and discarded, except those sent to the engine. Raises NotNow when the budget is
        exhausted or the endpoint is down, after the answers of running calls are recorded; or, with `go_on`, ends the
        remaining calls as ``error`` with that reason.
        """
        work = _Work(enumerate(calls))
        try:
            yield from self._ask(work)
        except NotNow as stop:
            if not self.go_on:
                raise
            yield from self._leave(work, stop)

    def _ask(self, work: "_Work") -> Iterator[tuple[int, Outcome]]:
        while not work.finished:
            for reply in self.engine.answer(self._feed(work)):
                pending = work.land(reply)
                self.calls_made += 1
                outcome = self._judge(pending, reply)
                if outcome is None:
                    work.again.append(pending)
                else:
                    work.settle(pending.key, outcome)
                while work.ready:
                    yield work.ready.popleft()
            if work.flying:
                raise RuntimeError(f"engine {self.engine.name} left {len(work.flying)} requests unanswered")
            while work.ready:
                yield work.ready.popleft()
            if work.again:
                self.budget.check(self._most(work.again[0]))

    def _leave(self, work: "_Work", stop: NotNow) -> Iterator[tuple[int, Outcome]]:
        """Recorded outcomes, and "not answered" for all other calls of `work`."""
        for pending in (*work.flying.values(), *work.again):
            self.budget.release(pending.key)
            work.settle(pending.key, Outcome(pending.key, "error", stop.reason, stop.problem))
        yield from work.ready
        for index, call in work.calls:
            key = self.key(call)
            outcome = work.failed.get(key) or self._recall(key, call)
            yield index, outcome or Outcome(key, "error", stop.reason, stop.problem)

    def _feed(self, work: "_Work") -> Iterator[Request]:
        """Requests for the engine: second attempts first, then new calls, while there is budget."""
        while pending := work.again.popleft() if work.again else self._next_new(work):
            if not self.budget.reserve(pending.key, self._most(pending)):
                work.again.appendleft(pending)
                return
            if self.make_room and not work.is_sent:
                self.make_room()
            work.is_sent = True
            request = pending.call.request
            seed = derive_seed(request.seed, pending.key, pending.attempt)
            pending.request = dataclasses.replace(request, seed=seed)
            work.flying[id(pending.request)] = pending
            yield pending.request

    def _most(self, pending: _Pending) -> dict[str, float]:
        """The most that a call may take of a budget, if there is one."""
        if not self.budget.limits:
            return {}
        request = pending.call.request
        taken = most_tokens(request, picture_tokens(self.role, request), self.most_seen)
        return {"calls": 1.0, "tokens": sum(taken), "money": self._cost(*taken) + self._sound_cost(request)}

    def _cost(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.role.price_in + tokens_out * self.role.price_out) / 1e6

    def _sound_cost(self, request: Request) -> float:
        """The cost of a request's sound, by the minute."""
        if not isinstance(self.role, SpeechSettings):
            return 0.0
        return self.role.price_minute * float(request.slots["seconds"]) / 60

    def _next_new(self, work: "_Work") -> "_Pending | None":
        """The next call that must be sent; meanwhile, recorded ones become ready and copies of a running one wait."""
        while len(work.ready) < READY_AT_MOST:
            index, call = next(work.calls, (-1, None))
            if call is None:
                work.drawn = True
                return None
            parts = parts_of(call.request, call.media, self.engine.model, self.engine.revision)
            key = key_of(parts)
            if key in work.waiting:
                work.waiting[key].append(index)
            elif (outcome := work.failed.get(key) or self._recall(key, call)) is not None:
                work.ready.append((index, outcome))
            else:
                work.waiting[key] = [index]
                pending = _Pending(call, key, parts)
                if self._load(pending, work):
                    return pending
        return None

    def _load(self, pending: _Pending, work: "_Work") -> bool:
        """Fetch the media of a call; whether it can be sent."""
        call = pending.call
        if call.load is None:
            return True
        try:
            filled = call.load()
        except MediaError as error:
            work.settle(pending.key, self._record(pending, Reply("", "error", "media", str(error)), "error", "media"))
            return False
        pending.call = dataclasses.replace(call, request=dataclasses.replace(call.request, **filled), load=None)
        return True

    def _recall(self, key: str, call: Call) -> Outcome | None:
        """The final outcome of a call in the ledger, or None."""
        row = self.ledger.get(key)
        if row is None:
            return None
        outcome = self._outcome(row, call)
        if self.replay:
            return outcome
        thinks = call.task.prompted and has_thought(row["text"])
        return outcome if self._final(outcome) and not thinks else None

    def _final(self, outcome: Outcome) -> bool:
        """Whether a recorded outcome is final.

        It is not if there was no answer yet, if attempts remain (the run was killed between two), or if the current
        parser reads an answer differently from the one that judged it. An error may be over: the endpoint now accepts
        the request, or a limit outside the key was raised.
        """
        parsed = outcome.parsed
        if outcome.status == "ok":
            return parsed.usable
        if outcome.status in ("truncated", "invalid"):
            whole = parsed.usable and not parsed.missing
            return outcome.notes.get("attempt", 0) >= self.attempts and not whole and bool(outcome.text.strip())
        return outcome.status == "blocked"

    def _judge(self, pending: _Pending, reply: Reply) -> Outcome | None:
        """Judge a reply and record the attempt; None means: retry."""
        call = pending.call
        if call.task.prompted:
            reply = self._separate(reply)
        if reply.finish in ("blocked", "error"):
            reason = reply.reason or reply.finish
            if pending.best and not is_passing(reply.finish, reason):
                return self._record_short(pending, *pending.best, reply)
            return self._record(pending, reply, reply.finish, reason)
        parsed = call.task.read(call.request.slots, reply.text, call.count, reply.finish == "length")
        if parsed.missing == 0:
            return self._record(pending, reply, "ok", "", parsed)
        if parsed.usable and (pending.best is None or parsed.missing < pending.best[0].missing):
            pending.best = parsed, reply
        last = pending.attempt >= self.attempts
        if last and pending.best:
            return self._record_short(pending, *pending.best, reply)
        status: Status = "truncated" if reply.finish == "length" else "invalid"
        judged = dataclasses.replace(reply, notes={**reply.notes, "attempt": pending.attempt})
        if not reply.text.strip():
            judged = dataclasses.replace(judged, detail=why_empty(reply, call.request.sampling.max_tokens))
        outcome = self._record(pending, judged, status, _why(reply, parsed), parsed)
        pending.attempt += 1
        return outcome if last else None

    def _separate(self, reply: Reply) -> Reply:
        """The reply with the model's thoughts separated from its text, from either of the two sources."""
        if not reply.text:
            return reply
        cut = reply.finish == "length" and not reply.thought
        parts = separate(reply.text, cut)
        self.opened_before |= parts.opened_before
        if cut and self.opened_before and parts.answer == reply.text:  # before the thought was closed
            parts = Separated("", reply.text)
        thought = "\n".join(filter(None, (reply.thought, parts.thought)))
        return dataclasses.replace(reply, text=parts.answer, thought=thought)

    def _record_short(self, pending: _Pending, parsed: Parsed, best: Reply, reply: Reply) -> Outcome:
        """After the last attempt, whose tokens and time `reply` holds: the best answer there was, as short."""
        spent = {name: getattr(reply, name) for name in ("tokens_in", "tokens_out", "seconds")}
        return self._record(pending, dataclasses.replace(best, **spent), "ok", SHORT, parsed)

    def _record(
        self, pending: _Pending, reply: Reply, status: Status, reason: str, parsed: Parsed | None = None
    ) -> Outcome:
        sound = self._sound_cost(pending.call.request) if reply.finish in ("stop", "length") else 0.0
        notes = {**reply.notes, "thought": reply.thought} if reply.thought else reply.notes
        row = {
            "key": pending.key,
            **pending.parts,
            "engine": self.engine.name,
            "status": status,
            "reason": reason,
            "detail": reply.detail,
            "finish": reply.finish,
            "text": reply.text,
            "notes": json.dumps(notes, ensure_ascii=False),
            "attempts": 1,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "seconds": reply.seconds,
            "cost": self._cost(reply.tokens_in, reply.tokens_out) + sound,
            "created": time.time(),
        }
        with self.budget.recording(row):
            stored = self.ledger.put(row)
        self.most_seen = max(self.most_seen, reply.tokens_in)
        unchanged = (stored["text"], stored["finish"]) == (reply.text, reply.finish)
        return self._outcome(stored, pending.call, parsed if unchanged else None)

    @staticmethod
    def _outcome(row, call: Call, parsed: Parsed | None = None) -> Outcome:
        """The outcome as the ledger holds it, with its parts as `parsed` or, without that, by today's parser."""
        if not row["text"]:
            parsed = Parsed()
        elif parsed is None:
            parsed = call.task.read(call.request.slots, row["text"], call.count, row["finish"] == "length")
        return Outcome(
            row["key"],
            row["status"],
            row["reason"],
            row["detail"],
            row["text"],
            parsed,
            row["attempts"],
            row["tokens_in"],
            row["tokens_out"],
            row["seconds"],
            row["cost"],
            json.loads(row["notes"]),
        )


def why_empty(reply: Reply, most_tokens: int) -> str:
    """Cause and remedy of an answer without text."""
    came = "thoughts and no answer" if _thinks(reply) else "no text"
    held = f"the reply holds {came} (finish_reason {reply.finish}, {reply.tokens_out} tokens)"
    if reply.finish != "length":
        return f"{held}; see the endpoint's log"
    return f"{held}; raise sampling.max_tokens (now {most_tokens}), or switch thinking off by chat_template_kwargs"


def _thinks(reply: Reply) -> bool:
    return bool(reply.thought or reply.notes.get("thought_tokens"))


def _why(reply: Reply, parsed: Parsed) -> str:
    """Short reason for an answer that lacks parts."""
    if not reply.text.strip():
        return ONLY_THOUGHT if _thinks(reply) else "empty"
    if reply.finish == "length":
        return "token-limit"
    if parsed.usable:
        return "too-few"
    if parsed.refused:
        return "refused"
    if re.search(r"<(?:!doctype|html|body|head)\b", reply.text, re.I):
        return "html"
    return "unreadable"
