"""Any endpoint that speaks OpenAI's chat protocol, through the official client.

Images and frames travel as data URLs. At most `api_slots` calls are under way. 429, 5xx, lost connections, timeouts and
answers that are no JSON are tried again, after the time that Retry-After names or a growing pause; what a content
filter blocked is not. The key comes from an environment variable only.
"""

import dataclasses
import itertools
import json
import logging
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from verified.common.errors import InputError
from verified.config.generation import EngineSettings
from verified.generation.engines.media import data_url, jpeg_of
from verified.generation.request import Reply, Request

log = logging.getLogger("verified")

FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "max_model_len",
    "context window",
    "longer than the model",
)
GIVE_UP_AFTER = 3
"""So many calls in a row, per slot, that the endpoint did not answer at all: it is down, and the job stops."""


class OpenAI:
    """Engine `openai`.

    `first_wait` is the pause before the first repetition in seconds; it doubles each time, up to `longest_wait`, as
    which longer Retry-After values count too. Raises InputError when no key is at hand for OpenAI itself, when the
    endpoint refuses the key or does not know the model, and when it does not answer at all.
    """

    name = "openai"

    def __init__(self, settings: EngineSettings, first_wait: float = 0.5, longest_wait: float = 120.0):
        import openai

        self.settings, self.model, self.revision = settings, settings.model, settings.revision
        key = os.environ.get(settings.api_key_variable)
        if not key and settings.base_url is None:
            raise InputError(
                f"the environment variable {settings.api_key_variable} holds no API key",
                remedy="set it, or name another with api_key_variable",
            )
        self.client = openai.OpenAI(
            api_key=key or "none", base_url=settings.base_url, timeout=settings.timeout_seconds, max_retries=0
        )
        self.errors = openai
        self.first_wait, self.longest_wait, self.free_at = first_wait, longest_wait, 0.0
        self.unanswered = itertools.count(1)
        self.lock = threading.Lock()

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield replies as they arrive, each naming its request; `api_slots` calls are under way at once."""
        source, failure = iter(requests), None
        with ThreadPoolExecutor(self.settings.api_slots) as pool:
            running = {}
            while True:
                while failure is None and len(running) < self.settings.api_slots:
                    if (request := next(source, None)) is None:
                        break
                    running[pool.submit(self._ask, request)] = request
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    request = running.pop(future)
                    if isinstance(future.exception(), InputError):
                        failure = future.exception()
                        reply = Reply("", "error", "endpoint", str(failure))
                    else:
                        reply = future.result()
                    yield dataclasses.replace(reply, request=request)
        if failure is not None:
            raise failure

    def _ask(self, request: Request) -> Reply:
        """One call with its repetitions."""
        started, reply = time.monotonic(), None
        for trial in range(self.settings.retries + 1):
            self._wait_for_turn()
            reply, pause = self._try(request, trial)
            if pause is None:
                break
            if trial < self.settings.retries:
                log.info("%s: %s; again in %.1f s", self.model, reply.reason, pause)
                time.sleep(pause)
        self._watch(reply)
        return dataclasses.replace(reply, seconds=time.monotonic() - started)

    def _try(self, request: Request, trial: int) -> tuple[Reply, float | None]:
        """The reply, and how long to wait before another trial (None: this one stands)."""
        pause = min(self.longest_wait, self.first_wait * 2**trial) * random.uniform(0.75, 1.25)
        try:
            answer = self.client.chat.completions.with_raw_response.create(**self._arguments(request))
            return self._read(json.loads(answer.http_response.text)), None
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, IndexError, AttributeError) as error:
            return Reply("", "error", "garbage", f"the endpoint's answer cannot be read: {error!r}"[:500]), pause
        except self.errors.APITimeoutError:
            return Reply("", "error", "timeout", f"no answer in {self.settings.timeout_seconds:g} s"), pause
        except self.errors.APIConnectionError as error:
            return Reply("", "error", "connection", str(error.__cause__ or error)), pause
        except self.errors.APIStatusError as error:
            return self._refused(error, pause)

    def _arguments(self, request: Request) -> dict:
        content: str | list[dict] = request.prompt
        images = list(request.images)
        if request.frames is not None:
            images += [jpeg_of(frame) for frame in request.frames]
        if images:
            pictures = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]
            content = [*pictures, {"type": "text", "text": request.prompt}]
        values = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": request.sampling.max_tokens,
            "temperature": request.sampling.temperature,
            "top_p": request.sampling.top_p,
            "seed": request.seed % 2**31,
        }
        if request.schema:
            schema = {"name": request.task, "schema": request.schema, "strict": True}
            values["response_format"] = {"type": "json_schema", "json_schema": schema}
        return values

    def _read(self, body: dict) -> Reply:
        """A reply from the decoded answer; KeyError, TypeError or IndexError if it is not as the protocol promises."""
        choice = body["choices"][0]
        message, usage = choice["message"], body.get("usage") or {}
        text, reason = message.get("content") or "", choice.get("finish_reason")
        if not isinstance(text, str):
            text = "".join(part["text"] for part in text if part.get("type") == "text")
        tokens = {
            "tokens_in": int(usage.get("prompt_tokens") or 0),
            "tokens_out": int(usage.get("completion_tokens") or 0),
        }
        notes = {"served_model": body["model"]} if body.get("model") not in (None, self.model) else {}
        if reason == "content_filter":
            return Reply("", "blocked", "content-filter", "the endpoint filtered the answer", **tokens, notes=notes)
        if message.get("refusal"):
            return Reply("", "blocked", "refusal", str(message["refusal"])[:500], **tokens, notes=notes)
        return Reply(text, "length" if reason == "length" else "stop", **tokens, notes=notes)

    def _refused(self, error, pause: float) -> tuple[Reply, float | None]:
        """What an error status means."""
        status, detail = error.status_code, str(error.message)[:500]
        code = str(error.body.get("code")) if isinstance(error.body, dict) else ""
        if any(mark in code or mark in detail for mark in FILTER_CODES):
            return Reply("", "blocked", "content-filter", detail), None
        if any(mark in code or mark in detail for mark in TOO_LONG) or status == 413:
            return Reply("", "error", "context-length", detail), None
        if status in (401, 403):
            raise InputError(
                f"the endpoint refuses the key ({status}): {detail}",
                remedy=f"check the environment variable {self.settings.api_key_variable}",
            )
        if status == 404:
            raise InputError(
                f"the endpoint does not know the model {self.model!r} or the address is wrong: {detail}",
                remedy="check `model` and `base_url`",
            )
        if status == 429 and code == "insufficient_quota":
            raise InputError(
                f"the endpoint's quota is used up: {detail}", remedy="all answers so far are kept; run again later"
            )
        if status in (408, 409, 429) or status >= 500:
            named = _retry_after(error.response.headers)
            if named is not None:
                pause = min(named, self.longest_wait)
                with self.lock:
                    self.free_at = max(self.free_at, time.monotonic() + pause)
            return Reply("", "error", "rate-limit" if status == 429 else f"status-{status}", detail), pause
        return Reply("", "error", f"status-{status}", detail), None

    def _wait_for_turn(self) -> None:
        """While the endpoint has asked for a pause, no slot calls it."""
        while (pause := self.free_at - time.monotonic()) > 0:
            time.sleep(min(pause, 1.0))

    def _watch(self, reply: Reply) -> None:
        """Stop the job when the endpoint does not answer anything any more."""
        with self.lock:
            if reply.reason not in ("connection", "timeout"):
                self.unanswered = itertools.count(1)
            elif next(self.unanswered) >= GIVE_UP_AFTER * self.settings.api_slots:
                raise InputError(
                    f"the endpoint {self.client.base_url} does not answer: {reply.detail}",
                    remedy="all answers so far are kept; run again when it is up",
                )


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
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return None
