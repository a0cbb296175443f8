"""Requests to language models and their replies: the interface that every engine implements.

An engine is handed `Request`s and yields one `Reply` for each, in order. It does not retry invalid answers, does not
parse and does not remember: parsing (`verified.lmm.tasks`) and the ledger (`verified.lmm.ledger`) are
the same for all engines.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

Finish = Literal["stop", "length", "blocked", "error"]


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Sampling of the model's answer."""

    max_tokens: int = 512
    temperature: float = 0.7
    top_p: float = 0.95
    chat_template_kwargs: str = ""
    """Further arguments of the chat template, as JSON."""


@dataclasses.dataclass(eq=False, slots=True)
class Request:
    """One call.

    `slots` are the plain values that `prompt` was filled with (`prompt` holds them quoted): engines that read meaning
    rather than text, such as the scene reader, use them. `images` are encoded JPEG or PNG files; `frames` is a clip,
    uint8 RGB [T, H, W, 3], with `frame_times` in seconds from the start of the clip; `sound` is a WAV file. `schema` is
    a JSON schema of the answer for engines that can constrain; others ignore it. `seed` depends on the configured seed,
    the content of the request and the attempt, so an engine draws from it alone. `key` is the ledger's.
    """

    task: str
    prompt: str
    slots: dict[str, str]
    images: tuple[bytes, ...] = ()
    frames: np.ndarray | None = None
    frame_times: tuple[float, ...] = ()
    sound: bytes = b""
    sampling: Sampling = Sampling()
    schema: dict | None = None
    seed: int = 0
    key: str = ""


@dataclasses.dataclass(frozen=True)
class Reply:
    """What an engine answered: raw text and how it ended.

    `finish` is "stop" (the model ended by itself), "length" (cut at the token limit), "blocked" (a content filter
    refused) or "error" (no answer; `reason` says why in a short slug such as "context-length", `detail` in words).
    `seconds` is the time spent on this call. `notes` is kept beside the outcome; the scene reader records there what
    it corrupted: ``{"corrupted": [{"candidate": 0-based index, "kind": "static" | "dynamic",
    "changed": {attribute: [true, false]}}]}``. Engines that finish out of order name the `request` they answer.
    `thought` holds what the model thought before, as far as the engine could tell it from the text.
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


class Engine(Protocol):
    """Anything that answers requests.

    One that holds a model on a GPU also has `gpu_share`, the share of its memory, and `release()`, which gives it back.
    """

    name: str
    """Engine name as in the configuration."""
    model: str
    """Model id."""
    revision: str
    """What pins the model's behaviour beyond its id: a commit, a version of the code, or empty."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Yield one reply per request, in order unless the reply names its request.

        Requests may be drawn lazily. A single bad one never raises; InputError means that no further call can succeed.
        """
        ...


class OnGpu(Protocol):
    """An engine that holds a model on a GPU."""

    gpu_share: float
    """Share of the GPU's memory."""

    def release(self) -> None:
        """Give the memory back."""
        ...


@runtime_checkable
class Gathering(Protocol):
    """An engine that draws all requests before it answers, and whose calls go on when the job ends.

    What a request shows may be dropped as soon as the next one is drawn.
    """

    def holds(self, key: str) -> bool:
        """Whether a call is under way from an earlier job, so that nothing is sent and its media are not needed."""
        ...

    def cancel(self) -> None:
        """Have nothing more answered than what is; calls without an answer end as ``error`` with ``budget``."""
        ...
