"""OpenAI's protocol, as bytes: how each role's calls look, and how an answer is read without trusting it.

Roles chat, ask for vectors (`/embeddings`, and the form of a chat in which vLLM's server takes pictures there) or for
transcripts (`/audio/transcriptions`). A chat for vectors ends in an empty answer that the model would go on with, as
vLLM's examples ask Qwen3-VL-Embedding: the last token is then the same as in the model's own code.
"""

import json
import re
from collections.abc import Collection
from typing import Any

from verified.config.generation import EmbedSettings
from verified.errors import InputError
from verified.lmm.engines.media import data_url, jpeg_of, mp4_url, video_facts, video_url
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.embedding import vector_text

FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
FIELDS = {
    "max_tokens": ("max_tokens",),
    "top_p": ("top_p",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "json schema", "structured outputs?", "guided_json"),
}
"""Optional fields of a request, and their names in errors; of two exclusive ones, the first is dropped."""
UNSUPPORTED = re.compile(
    r"unsupported|not support|n[o']t (?:be )?(?:support|allow|permit|accept|available|specif)|unrecognized|unknown"
    r"|unexpected|extra[_ ](?:inputs?|fields?|forbidden)|only the default|only [\w.]+ is|may only be|deprecated"
    r"|unavailable|invalid schema|max_completion_tokens|does not (?:take|accept|have)|no longer|cannot (?:both|be)"
    r"|not (?:compatible|implemented)|invalid parameter",
    re.I,
)
OUT_OF_RANGE = re.compile(
    r"too (?:large|long|many)|maximum context|at most|exceed|range|must be (?:less|greater|between)", re.I
)
TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "max_model_len",
    "context window",
    "longer than the model",
)
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields of a message: vLLM's and SGLang's, older and newer; Ollama's; OpenRouter's."""
MOST_TOKENS = 10**8
"""Most tokens of one call; a larger number that an endpoint reports is nonsense."""
DETAIL = 500
"""Characters of an endpoint's error message that are recorded."""


FILTERED = {
    *("content_filter", "content_filtered", "filtered", "safety", "recitation", "prohibited_content", "blocklist"),
    *("spii", "image_safety", "sensitive", "refusal", "blocked", "guardrail_intervened"),
}
"""Finish reasons of a filter, in small letters with underscores."""
CUT = {"length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_length", "model_length", "token_limit"}
"""Finish reasons of an answer that reached its limit."""
ENDED = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "end", "complete", "completed"}
"""Finish reasons of an answer that its model ended."""
BROKEN = {"error", "abort", "network_error", "insufficient_system_resource"}
"""Finish reasons of an answer that its server gave up."""
TEXTS = ("text", "output_text")
"""Types of blocks of an answer's text."""
STATUSES = {"api_key": 401, "auth": 401, "rate": 429, "quota": 429, "overloaded": 529, "invalid": 400}
"""Words of an error's code or type, and the status that it would have; others are 500."""
LAST_MARK = re.compile(r"[.!?。！？…\"'”’)\]}`*]\s*$")


class Unreadable(ValueError):
    """An answer that violates the protocol; the message gives the violation."""


class ErrorInAnswer(Exception):
    """An answer of status 200 that holds an error object; with the fields of the client's own errors."""

    response = None

    def __init__(self, body: object):
        self.body = body
        code = body.get("code") if isinstance(body, dict) else None
        named = f"{code} {body.get('type')}" if isinstance(body, dict) else ""
        number = int(str(code)) if re.fullmatch("[45][0-9]{2}", str(code)) else 0
        self.status_code = number or next((status for word, status in STATUSES.items() if word in named), 500)
        self.message = f"an error in an answer of status 200 - {json.dumps(body, default=str)}"
        super().__init__(self.message)


def chat_body(request: Request, model: str, video_input: str = "stills") -> dict:
    """The body of a request to `/chat/completions`; `video_input` decides the form of a clip."""
    content: str | list[dict] = request.prompt
    media, extra = shown_media(request, video_input)
    if media:
        content = [*media, {"type": "text", "text": content}]
    body = {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": request.sampling.max_tokens,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "seed": request.seed % 2**31,
        "stream": False,
        **extra,
    }
    if request.sampling.chat_template_kwargs:
        body["chat_template_kwargs"] = json.loads(request.sampling.chat_template_kwargs)
    if request.schema:
        schema = {"name": request.task, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def shown_media(request: Request, video_input: str) -> tuple[list[dict], dict]:
    """The parts of a message with a request's pictures or clip, and vLLM's fields outside the messages."""
    images, extra, media = list(request.images), {}, []
    if request.frames is not None and video_input == "stills":
        images += [jpeg_of(frame) for frame in request.frames]
    elif request.frames is not None and video_input == "mp4":
        media = [{"type": "video_url", "video_url": {"url": mp4_url(request.frames, request.frame_times)}}]
    elif request.frames is not None:
        media = [{"type": "video_url", "video_url": {"url": video_url(request.frames)}}]
        extra = {"media_io_kwargs": {"video": {"num_frames": -1, **video_facts(request.frame_times)}}}
    return [*({"type": "image_url", "image_url": {"url": data_url(image)}} for image in images), *media], extra


def reply_of(content: bytes, model: str, max_tokens: int | None = None) -> Reply:
    """A reply from the bytes of an answer.

    Raises Unreadable for anything that is not as the protocol promises, ErrorInAnswer for an error in it.
    """
    try:
        body = _document(content)
        choice = (body.get("choices") or [{}])[0]
        if choice.get("error"):
            raise ErrorInAnswer(choice["error"])
        usage = body.get("usage")
        taken: dict[str, Any] = {
            "tokens_in": tokens(usage, "prompt_tokens"),
            "tokens_out": tokens(usage, "completion_tokens"),
        }
        notes, message = _served_by(body.get("model"), model), choice.get("message")
        reason = str(choice.get("finish_reason")).lower().replace("-", "_")
        if reason in FILTERED or (not (message and message.get("content")) and _names_filter(body)):
            return Reply("", "blocked", "content-filter", "the endpoint filtered the answer", **taken, notes=notes)
        if message is None or reason in BROKEN:
            raise ValueError(f"no message, finish_reason {choice.get('finish_reason')}")
        text = message.get("content") or ""
        if not isinstance(text, str):
            text = "".join(block["text"] for block in text if block.get("type") in TEXTS)
        thought, declined = thought_of(message), message.get("refusal")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's answer cannot be read: {error!r}"[:DETAIL]) from None
    if declined:
        return Reply("", "blocked", "refusal", str(declined)[:DETAIL], **taken, notes=notes)
    if unseen := tokens(usage, "completion_tokens_details", "reasoning_tokens"):
        notes["thought_tokens"] = unseen
    full = max_tokens is not None and taken["tokens_out"] >= max_tokens
    whole = reason in ENDED and LAST_MARK.search(text) is not None
    cut = reason in CUT or (full and not whole)
    return Reply(text, "length" if cut else "stop", **taken, notes=notes, thought=thought)


def _document(content: bytes) -> dict:
    """The object in an answer's bytes. Raises ErrorInAnswer if it holds an error instead."""
    body = json.loads(content.decode("utf-8"))
    if error := body.get("error") or (body.get("object") == "error" and body):
        raise ErrorInAnswer(error)
    return body


def _names_filter(value: object) -> bool:
    """Whether any part of an answer names a filter as the reason for its emptiness."""
    if isinstance(value, list):
        return any(map(_names_filter, value))
    if not isinstance(value, dict):
        return False
    named = {key.lower().replace("_", ""): inner for key, inner in value.items()}
    reasons = {str(named.get(key)).lower().replace("-", "_") for key in ("finishreason", "blockreason")}
    blocked = named.get("blockreason") or named.get("filtered") is True
    return bool(blocked or reasons & FILTERED) or any(map(_names_filter, value.values()))


def _served_by(served: object, model: str) -> dict[str, Any]:
    """Notes of a reply: the model that an endpoint says it used, if that is not the role's `model`."""
    return {"served_model": served[:200]} if isinstance(served, str) and served not in ("", model) else {}


def thought_of(message: dict) -> str:
    """Thoughts that a server with a reasoning parser returns outside the content, or among its blocks."""
    blocks = message.get("content")
    thoughts = [message.get(name) for name in THOUGHT_FIELDS]
    thoughts += [block for block in blocks if block.get("type") not in TEXTS] if isinstance(blocks, list) else []
    return "\n".join(dict.fromkeys(text for value in thoughts for text in _texts(value)))


def _texts(value: Any) -> list[str]:
    """The texts within a field of thoughts: plain, or in blocks."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    if isinstance(value, dict):
        return [text for name in ("text", *THOUGHT_FIELDS, "summary") for text in _texts(value.get(name))]
    return []


def tokens(usage: object, *keys: str) -> int:
    """A number of tokens that an endpoint reports, 0 where it reports none that makes sense."""
    for key in keys:
        usage = usage.get(key) if isinstance(usage, dict) else None
    if isinstance(usage, str) and re.fullmatch("[0-9]{1,9}", usage):
        usage = int(usage)
    if isinstance(usage, bool) or not isinstance(usage, int | float) or not 0 <= usage <= MOST_TOKENS:
        return 0
    return int(usage)


def rejected_field(status: int, body: object, message: str, sent: dict) -> str | None:
    """The field of a request's body that the model does not accept, from an error; None for any other error.

    A value out of its range is another error: a request without the field would not be equivalent.
    """
    if status not in (400, 422):
        return None
    named = str(body.get("param") or "") if isinstance(body, dict) else ""
    message_text = f"{message} {body if isinstance(body, str) else json.dumps(body, default=str)}"[: 4 * DETAIL]
    if not UNSUPPORTED.search(message_text) or OUT_OF_RANGE.search(message_text):
        return None
    for field in FIELDS:
        if field in sent and any(re.search(rf"\b{name}\b", named) for name in FIELDS[field]):
            return field
    for field in FIELDS:
        if field in sent and any(re.search(rf"\b{name}\b", message_text, re.I) for name in FIELDS[field]):
            return field
    return None


def reduced_body(body: dict, without: Collection[str]) -> dict:
    """A body without the fields that a model does not accept; the token limit uses its other name."""
    taken = {name: value for name, value in body.items() if name not in without}
    if "max_tokens" in without and "max_tokens" in body:
        taken["max_completion_tokens"] = body["max_tokens"]
    return taken


def error_of(status: int, body: object, message: str, key_variable: str, model: str) -> Reply:
    """Meaning of an error status for the call. Raises InputError if no further call can succeed."""
    if " - " not in message and body:  # the protocol of another server
        message = f"{message} - {body if isinstance(body, str) else json.dumps(body, default=str)}"
    detail = message[:DETAIL]
    code = str(body.get("code")) if isinstance(body, dict) else ""
    if any(mark in code or mark in detail for mark in FILTER_CODES):
        return Reply("", "blocked", "content-filter", detail)
    if any(mark in code or mark in detail for mark in TOO_LONG) or status == 413:
        return Reply("", "error", "context-length", detail)
    if status in (401, 403):
        raise InputError(
            f"the endpoint refuses the key ({status}): {detail}",
            remedy=f"check the environment variable {key_variable}",
        )
    if status == 404:
        raise InputError(
            f"the endpoint does not know the model {model!r} or the address is wrong: {detail}",
            remedy="check `model` and `base_url`",
        )
    if status == 429 and code == "insufficient_quota":
        raise InputError(
            f"the endpoint's quota is used up: {detail}", remedy="all answers so far are kept; run again later"
        )
    return Reply("", "error", "rate-limit" if status == 429 else f"status-{status}", detail)


MOST_DIMENSIONS = 2**16
"""A longer vector is nonsense."""


def embedding_body(request: Request, settings: EmbedSettings) -> dict:
    """The body of a request to `/embeddings`."""
    body: dict = {"model": settings.model, "encoding_format": "float"}
    if settings.dimensions:
        body["dimensions"] = settings.dimensions
    if not settings.chats:
        return body | {"input": request.prompt}
    media, more = shown_media(request, settings.video_input)
    system = [{"role": "system", "content": [_text(request.slots["instruction"])]}]
    messages = [
        *(system if request.slots["instruction"] else []),
        {"role": "user", "content": [*media, _text(request.prompt)]},
        {"role": "assistant", "content": [_text("")]},
    ]
    return body | more | {"messages": messages, "continue_final_message": True, "add_special_tokens": True}


def _text(text: str) -> dict:
    return {"type": "text", "text": text}


def embedding_reply(content: bytes, model: str) -> Reply:
    """A reply that holds the vector (see `tasks.embedding`). Raises Unreadable for an answer without one."""
    try:
        body = _document(content)
        (entry,) = body["data"]
        values = entry["embedding"]
        if not isinstance(values, list) or not 0 < len(values) <= MOST_DIMENSIONS:
            raise ValueError("no list of numbers")
        if not all(type(value) in (int, float) for value in values):
            raise ValueError("a vector of other things than numbers")
        text, taken, served = vector_text(values), tokens(body.get("usage"), "prompt_tokens"), body.get("model")
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Unreadable(f"the endpoint's vector cannot be read: {error!r}"[:DETAIL]) from None
    return Reply(text, tokens_in=taken, notes=_served_by(served, model))


def transcription_arguments(request: Request, model: str) -> dict:
    """Keyword arguments of the client's `audio.transcriptions.create`."""
    values = {
        "model": model,
        "file": ("sound.wav", request.sound, "audio/wav"),
        "response_format": "verbose_json",
        "temperature": request.sampling.temperature,
    }
    return values | ({"language": request.slots["language"]} if request.slots["language"] else {})


def transcription_reply(content: bytes, request: Request) -> Reply:
    """A reply whose text is JSON with `segments` of start, end (seconds) and text. Raises Unreadable.

    An answer without times counts as one segment over the whole sound.
    """
    try:
        body = _document(content)
        tokens_in, tokens_out = (tokens(body.get("usage"), key) for key in ("input_tokens", "output_tokens"))
        if (segments := body.get("segments")) is None:
            segments = [{"start": 0.0, "end": float(request.slots["seconds"]), "text": body["text"]}]
        listed = [{name: segment[name] for name in ("start", "end", "text")} for segment in segments]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's transcript cannot be read: {error!r}"[:DETAIL]) from None
    return Reply(json.dumps({"segments": listed}, ensure_ascii=False), tokens_in=tokens_in, tokens_out=tokens_out)
