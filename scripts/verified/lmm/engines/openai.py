"""Any endpoint with OpenAI's protocol for chat, transcription or embeddings, by OpenAI's client.

Images and frames travel as data URLs. At most `api_slots` calls run at once. 429, 5xx, lost connections, timeouts and
unreadable answers are retried, after the time of Retry-After or a growing pause; calls blocked by a content filter are
not. A field that the model does not accept, such as `max_tokens` or a temperature, is omitted after its first error. An
endpoint without an answer for `outage_seconds` stops the job. An address that refuses connections stops it at once,
unless it has answered before: then it may be restarting. The key comes from an environment
variable only, and is masked in all responses of the endpoint.
"""

import dataclasses
import logging
import math
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING

from verified.config.generation import EmbedSettings, EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.engines.protocol import (
    DETAIL,
    ErrorInAnswer,
    Unreadable,
    chat_body,
    embedding_body,
    embedding_reply,
    error_of,
    reduced_body,
    rejected_field,
    reply_of,
    transcription_arguments,
    transcription_reply,
)
from verified.lmm.request import NotNow, Reply, Request, is_passing
from verified.runtime.secrets import keep_secret, redact

if TYPE_CHECKING:
    from openai import APIStatusError

log = logging.getLogger("verified")

GIVE_UP_AFTER = 3
"""Calls in a row, per slot, that failed in all their tries: with so many the endpoint is down, and the job stops."""
BETWEEN_LINES = 10.0
"""Minimum seconds between two log lines about retries."""


def make(role: EngineSettings, generation: Generation) -> "OpenAI":
    """The engine `openai` of a role."""
    return OpenAI(role)


class OpenAI:
    """Engine `openai`.

    `first_wait` is the pause before the first repetition in seconds; it doubles each time, up to `longest_wait`, which
    also limits Retry-After. Raises InputError without a key for OpenAI itself, when the endpoint refuses the key, does
    not know the model or redirects calls; NotNow when it does not answer.
    """

    name = "openai"

    def __init__(self, settings: EngineSettings, first_wait: float = 0.5, longest_wait: float = 120.0):
        import openai

        from verified.lmm.engines.guarded_http import Limits, Refused, guarded_client, proxy_of

        self.settings, self.model, self.revision = settings, settings.model, settings.revision
        key = key_of(settings)
        if not key and settings.base_url is None:
            raise InputError(
                f"the environment variable {settings.api_key_variable} holds no API key",
                remedy="set it, or name another with api_key_variable",
            )
        self.limits = Limits()
        self.proxy = proxy_of(settings.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")
        self.client = openai.OpenAI(
            api_key=key or "none",
            base_url=settings.base_url,
            timeout=settings.timeout_seconds,
            max_retries=0,
            http_client=guarded_client(self.limits, self.proxy),
        )
        self.errors, self.refused = openai, Refused
        self.first_wait, self.longest_wait, self.free_at = first_wait, longest_wait, 0.0
        self.rejected_fields = set[str]()
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.answered, self.failed_calls, self.failed_tries = 0, 0, Counter()
        self.answered_at = time.monotonic()
        self.unlogged, self.logged_at = Counter[str](), -math.inf

    @property
    def address(self) -> str:
        """Where the calls go."""
        return str(self.client.base_url)

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield replies as they arrive, each naming its request; `api_slots` calls are under way at once.

        Requests are drawn in the caller's thread. An InputError of a call is raised when all running calls have ended.
        """
        self.stopped.clear()
        self.failed_calls, self.answered_at = 0, time.monotonic()
        source, failure = iter(requests), None
        running: dict[Future[Reply], Request] = {}
        with ThreadPoolExecutor(self.settings.api_slots) as pool:
            while True:
                while failure is None and len(running) < self.settings.api_slots and (request := next(source, None)):
                    running[pool.submit(self._ask, request)] = request
                if not running:
                    break
                future = next(iter(wait(running, return_when=FIRST_COMPLETED).done))
                request = running.pop(future)
                try:
                    reply = future.result()
                except InputError as problem:
                    failure = failure or problem
                    self.stopped.set()
                    reply = Reply("", "error", "endpoint", redact(str(problem))[:DETAIL])
                yield dataclasses.replace(reply, request=request)
        if failure is not None:
            raise failure

    def _chat(self, request: Request) -> Reply:
        """One try, and again at once without a field that the model turns out not to take."""
        if isinstance(self.settings, EmbedSettings):
            path, whole, read = "/embeddings", embedding_body(request, self.settings), embedding_reply
        else:
            path, whole = "/chat/completions", chat_body(request, self.model, self.settings.video_input)
            read = partial(reply_of, max_tokens=self.settings.sampling.max_tokens)
        while True:
            body = reduced_body(whole, without := sorted(self.rejected_fields))
            try:
                reply = read(self.client.post(path, cast_to=bytes, body=body), self.model)
            except (self.errors.APIStatusError, ErrorInAnswer) as error:
                field = rejected_field(error.status_code, error.body, error.message, body)
                if field is None:
                    raise
                self._learn(field, redact(error.message)[:DETAIL])
                continue
            missing = [name for name in without if name in whole]
            return dataclasses.replace(reply, notes={**reply.notes, "untaken": missing}) if missing else reply

    def _learn(self, field: str, message: str) -> None:
        with self.lock:
            if field not in self.rejected_fields:
                self.rejected_fields.add(field)
                log.warning("%s does not take %s, its calls go without it: %s", self.model, field, message)

    def _ask(self, request: Request) -> Reply:
        """One call, with retries of temporary errors."""
        started, reply = time.monotonic(), Reply("", "error", "stopped")
        for trial in range(self.settings.retries + 1):
            self._wait_until(self.free_at)
            self.limits.begin(self.settings.timeout_seconds)
            reply, named = self._try(request)
            last = trial == self.settings.retries or self.stopped.is_set()
            self._watch(reply, last)
            if last or not is_passing(reply.finish, reply.reason):
                break
            pause = min(self.longest_wait, self.first_wait * 2**trial) * random.uniform(0.75, 1.25)
            pause = pause if named is None else min(named, self.longest_wait)
            self._log_retries(reply.reason, pause)
            self._wait_until(time.monotonic() + pause)
        return dataclasses.replace(reply, seconds=time.monotonic() - started)

    def _log_retries(self, reason: str, pause: float) -> None:
        """Log a retry: few lines, as an outage affects all calls at once."""
        with self.lock:
            self.unlogged[reason] += 1
            if (now := time.monotonic()) < self.logged_at + BETWEEN_LINES:
                return
            counts = ", ".join(f"{count} x {name}" for name, count in self.unlogged.items())
            self.unlogged, self.logged_at = Counter(), now
        log.info("%s: %s; again in %.1f s", self.model, counts, pause)

    def _try(self, request: Request) -> tuple[Reply, float | None]:
        """The reply, and how many seconds the endpoint asks to wait before another try."""
        named = None
        try:
            reply = self._transcribe(request) if request.sound else self._chat(request)
        except (Unreadable, self.refused) as error:
            reply = Reply("", "error", "garbage", str(error))
        except self.errors.APITimeoutError:
            reply = Reply("", "error", "timeout", f"no whole answer in {self.limits.seconds:g} s")
        except self.errors.APIConnectionError as error:
            if not self.answered and _connection_refused(error):
                place, remedy = self.address, "start the endpoint, or correct base_url"
                if self.proxy:
                    variable, place = self.proxy.variable, f"the proxy {redact(self.proxy.address)}"
                    place, remedy = f"{place}, which {variable} names", f"start it, unset {variable}, or set NO_PROXY"
                raise NotNow(
                    "outage",
                    f"{self.model}: no connection, nobody listens at {place}",
                    remedy=f"{remedy}, and run again; all answers so far are kept",
                ) from None
            way = f" (by the proxy {redact(self.proxy.address)} of {self.proxy.variable})" if self.proxy else ""
            reply = Reply("", "error", "connection", f"{error.__cause__ or error}{way}"[:DETAIL])
        except (self.errors.APIStatusError, ErrorInAnswer) as error:
            reply, named = self._refusal(error)
        return mask_key(reply), named

    def _transcribe(self, request: Request) -> Reply:
        create = self.client.audio.transcriptions.with_raw_response.create
        answer = create(**transcription_arguments(request, self.model))
        return transcription_reply(answer.http_response.content, request)

    def _refusal(self, error: "APIStatusError | ErrorInAnswer") -> tuple[Reply, float | None]:
        """Meaning of an error status; a pause requested by the endpoint applies to all slots."""
        status, headers = error.status_code, error.response.headers if error.response is not None else {}
        if 300 <= status < 400:
            raise InputError(
                f"the endpoint {self.address} sends calls on to {redact(headers.get('location', 'nowhere'))[:200]}",
                remedy="nothing was sent there; set `base_url` to where the endpoint really is",
            )
        try:
            reply = error_of(status, error.body, redact(error.message), self.settings.api_key_variable, self.model)
        except RecursionError:
            reply = Reply("", "error", f"status-{status}", "the endpoint's words are nested too deep to be read")
        named = _retry_after(headers) if is_passing(reply.finish, reply.reason) else None
        if named is not None:
            with self.lock:
                self.free_at = max(self.free_at, time.monotonic() + min(named, self.longest_wait))
        return reply, named

    def _wait_until(self, moment: float) -> None:
        """Sleep, unless the job is stopping."""
        while (pause := moment - time.monotonic()) > 0 and not self.stopped.is_set():
            self.stopped.wait(min(pause, 1.0))
            moment = max(moment, self.free_at)

    def _watch(self, reply: Reply, last: bool) -> None:
        """Stop the job when the endpoint does not answer anything any more."""
        with self.lock:
            if not is_passing(reply.finish, reply.reason):
                self.answered += 1
                self.failed_calls, self.answered_at = 0, time.monotonic()
                self.failed_tries.clear()
                return
            self.failed_calls += last
            self.failed_tries[reply.reason] += 1
            silent = time.monotonic() - self.answered_at
            if self.failed_calls < GIVE_UP_AFTER * self.settings.api_slots and silent < self.settings.outage_seconds:
                return
            tries = ", ".join(f"{count} x {reason}" for reason, count in self.failed_tries.most_common())
            raise NotNow(
                "outage",
                f"the endpoint {self.address} does not answer: {tries} in {silent:.0f} s, after {self.answered} "
                f"answered calls; the last error: {reply.detail}",
                remedy="all answers so far are kept; run again when it is up, which sends only the missing calls",
            )


def key_of(settings: EngineSettings) -> str | None:
    """The key of a role, registered as a secret. Raises InputError for letters that no key has."""
    key = os.environ.get(settings.api_key_variable)
    for secret in {key, key and key.strip()}:
        keep_secret(secret)
    odd = {
        "a line end": set("\r\n"),
        "white space": {letter for letter in key or "" if letter.isspace()} - set("\r\n"),
        "quotes": set("\"'`‘’“”„«»"),
        "letters outside ASCII": {letter for letter in key or "" if not letter.isascii() and not letter.isspace()},
        "control characters": {chr(code) for code in (*range(9), *range(14, 28), 127)},
    }
    if signs := [name for name, letters in odd.items() if letters & set(key or "")]:
        raise InputError(
            f"the environment variable {settings.api_key_variable} holds {' and '.join(signs)}, which no key has",
            remedy=f"export it again without them: {settings.api_key_variable}=$(tr -d '[:space:]' < FILE)",
        )
    return key


def _connection_refused(error: BaseException | None) -> bool:
    """Whether a connection was refused by the machine itself, as the causes of an error tell."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False


def mask_key(reply: Reply) -> Reply:
    """A reply without the key, which endpoints and proxies echo at times."""
    notes = {name: redact(value) if isinstance(value, str) else value for name, value in reply.notes.items()}
    texts = {name: redact(getattr(reply, name)) for name in ("text", "detail", "thought")}
    return dataclasses.replace(reply, **texts, notes=notes)


def _retry_after(headers) -> float | None:
    """Seconds that the endpoint asks to wait, from Retry-After as a number or as a date."""
    value = headers.get("retry-after-ms")
    try:
        if value is not None:
            return max(0.0, float(value) / 1000)
        value = headers.get("retry-after")
        return None if value is None else max(0.0, float(value))
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
        except (TypeError, ValueError):
            return None
