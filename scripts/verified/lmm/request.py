"""Requests to language models, replies and outcomes: the interface that every engine implements.

An engine takes `Request`s and yields one `Reply` for each, in order. It does not retry invalid answers, does not parse
and does not remember: parsing (`verified.lmm.tasks`) and the ledger (`verified.lmm.ledger`) are the same for all
engines. The `Outcome` of a call is one of five types, and tells whether a retry is worthwhile.
"""

import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

from verified.errors import InputError

if TYPE_CHECKING:
    import numpy as np

Finish = Literal["stop", "length", "blocked", "error"]


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Sampling of the model's answer."""

    max_tokens: int = 512
    temperature: float = 0.7
    top_p: float = 0.95
    chat_template_kwargs: str = ""
    """More arguments of the chat template, as JSON."""


@dataclasses.dataclass(eq=False, slots=True)
class Request:
    """One call.

    `slots` are the plain values that `prompt` was filled with (`prompt` holds them quoted): engines that read meaning
    rather than text, such as the scene reader, use them. `images` are encoded JPEG or PNG files; `frames` is a clip,
    uint8 RGB [T, H, W, 3], with `frame_times` in seconds from the start of the clip; `sound` is a WAV file. `schema` is
    a JSON schema of the answer for engines that can constrain; others ignore it. `seed` depends on the configured seed,
    the content of the request and the attempt, so an engine draws from it alone. `demo` is that of the task.
    """

    task: str
    prompt: str
    slots: dict[str, str]
    images: tuple[bytes, ...] = ()
    frames: "np.ndarray | None" = None
    frame_times: tuple[float, ...] = ()
    sound: bytes = b""
    sampling: Sampling = Sampling()
    schema: dict | None = None
    seed: int = 0
    demo: "DemoAnswer | None" = None


@dataclasses.dataclass(frozen=True)
class Reply:
    """An engine's answer: raw text and finish.

    `finish` is "stop" (the model ended by itself), "length" (cut at the token limit), "blocked" (a content filter
    refused) or "error" (no answer; `reason` is a short slug such as "context-length", `detail` an explanation).
    `seconds` is the time spent on this call. `notes` is stored with the outcome; the scene reader records its
    corruptions there: ``{"corrupted": [{"candidate": 0-based index, "kind": "static" | "dynamic", "changed":
    {attribute: [true, false]}}]}``. Engines that finish out of order name the `request` they answer. `thought` has the
    model's thoughts before the answer, if the engine could separate them.
    """

    text: str
    finish: Finish = "stop"
    reason: str = ""
    detail: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    request: Request | None = None
    thought: str = ""


DemoAnswer = Callable[[Request, random.Random, float], Reply]
"""Answers a request, drawing from a generator, and corrupts a share of the answers on purpose."""


class Engine(Protocol):
    """Anything that answers requests.

    One that holds a model on a GPU also has `gpu_share`, the share of its memory, and `release()`, which gives it back.
    """

    name: str
    """Engine name as in the configuration."""
    model: str
    """Model id."""
    revision: str
    """Version of the model beyond its id: a commit, a version of the code, or empty."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order unless the reply names its request.

        Requests may be drawn lazily. A single bad one never raises; InputError means that no further call can succeed.
        """
        ...


Status = Literal["ok", "truncated", "invalid", "blocked", "error"]
STATUSES: tuple[Status, ...] = ("ok", "truncated", "invalid", "blocked", "error")
SHORT = "short"
"""Reason of an ``ok`` that has fewer parts than requested, after all attempts."""
PASSING = re.compile(r"connection|timeout|rate-limit|garbage|endpoint|outage|budget|status-(?:408|409|425|5\d\d)")
"""Reasons of an ``error`` that depend on when a call was made and not on the call itself."""


def is_passing(status: str, reason: str) -> bool:
    """Whether a call that ended so is worth a retry: there is no answer yet, but there may be one later."""
    return status == "error" and PASSING.fullmatch(reason) is not None


class NotNow(InputError):
    """There is no answer for now; `reason` is ``outage`` or ``budget``. Earlier answers are recorded."""

    def __init__(self, reason: str, problem: str, **where: Any):
        super().__init__(problem, **where)
        self.reason = reason


@dataclasses.dataclass(slots=True)  # not frozen, for a quote makes a million: that takes three times as long
class Parsed:
    """Result of parsing an answer.

    `items` are the captions, questions or answers in order; `sections` the named parts (background, foreground,
    description). `positions` gives for each item its 0-based index among all candidates of the answer. `refused` lists
    unusable candidates, each with a reason. `missing` counts requested items and sections that are absent.
    """

    items: tuple[str, ...] = ()
    sections: dict[str, str] = dataclasses.field(default_factory=dict)
    positions: tuple[int, ...] = ()
    refused: tuple[dict[str, str], ...] = ()
    missing: int = 0

    @property
    def usable(self) -> bool:
        """Whether any part is usable."""
        return bool(self.items) or any(self.sections.values())


@dataclasses.dataclass(slots=True)
class Outcome:
    """The outcome of one call, as stored in the ledger.

    An outcome is final unless it `passes`: a call whose endpoint was down has not been answered yet. `attempts`,
    `tokens_in`, `tokens_out`, `seconds` and `cost` (in the currency of the configured prices) are totals.
    """

    key: str
    status: Status
    reason: str = ""
    detail: str = ""
    text: str = ""
    parsed: Parsed = dataclasses.field(default_factory=Parsed)
    attempts: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Notes of the engine; ``thought`` has the model's thoughts before the answer, which are never part of `text`."""

    @property
    def passes(self) -> bool:
        """Whether the call is worth a retry."""
        return is_passing(self.status, self.reason)
