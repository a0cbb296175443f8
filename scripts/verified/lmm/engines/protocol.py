"""OpenAI's protocol, as bytes: how each role's calls look, and how an answer is read without trusting it.

Roles chat, ask for vectors (`/embeddings`, and the form of a chat in which vLLM's server takes pictures there) or for
transcripts (`/audio/transcriptions`). A chat for vectors ends in an empty answer that the model would go on with, as
vLLM's examples ask Qwen3-VL-Embedding: the last token is then the same as in the model's own code.
"""

import json
import re
from collections.abc import Collection
from typing import Any

from verified.config.generation import EmbedSettings, EngineSettings
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
"""Of a message: vLLM's and SGLang's, older and newer; Ollama's; OpenRouter's."""
MOST_TOKENS = 10**8
"""Most tokens of one call; a larger number that an endpoint reports is nonsense."""
DETAIL = 500
"""Characters of an endpoint's error message that are recorded."""


class Unreadable(ValueError):
    """An answer that violates the protocol; the message gives the violation."""


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


def reply_of(content: bytes, model: str) -> Reply:
    """A reply from the bytes of an answer. Raises Unreadable for anything that is not as the protocol promises."""
    try:
        body = json.loads(content.decode("utf-8"))
        choice = body["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text = message.get("content") or ""
        if not isinstance(text, str):
            text = "".join(block["text"] for block in text if block.get("type") == "text")
        thought = thought_of(message)
        usage = body.get("usage") or {}
        taken: dict[str, Any] = {
            "tokens_in": tokens(usage.get("prompt_tokens")),
            "tokens_out": tokens(usage.get("completion_tokens")),
        }
        unseen = tokens((usage.get("completion_tokens_details") or {}).get("reasoning_tokens"))
        served, declined = body.get("model"), message.get("refusal")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's answer cannot be read: {error!r}"[:DETAIL]) from None
    notes = _served_by(served, model)
    if reason == "content_filter":
        return Reply("", "blocked", "content-filter", "the endpoint filtered the answer", **taken, notes=notes)
    if declined:
        return Reply("", "blocked", "refusal", str(declined)[:DETAIL], **taken, notes=notes)
    if unseen:
        notes["thought_tokens"] = unseen
    return Reply(text, "length" if reason == "length" else "stop", **taken, notes=notes, thought=thought)


def _served_by(served: object, model: str) -> dict[str, Any]:
    """Notes of a reply: the model that an endpoint says it used, if that is not the role's `model`."""
    return {"served_model": served[:200]} if isinstance(served, str) and served not in ("", model) else {}


def thought_of(message: dict) -> str:
    """Thoughts that a server with a reasoning parser returns outside the content, or among its blocks."""
    blocks = message.get("content")
    found = [message.get(name) for name in THOUGHT_FIELDS]
    found += [block for block in blocks if block.get("type") != "text"] if isinstance(blocks, list) else []
    return "\n".join(dict.fromkeys(text for value in found for text in _texts(value)))


def _texts(value: Any) -> list[str]:
    """The texts within a field of thoughts: plain, or in blocks."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    if isinstance(value, dict):
        return [text for name in ("text", *THOUGHT_FIELDS, "summary") for text in _texts(value.get(name))]
    return []


def tokens(value: object) -> int:
    """A number of tokens that an endpoint reports, 0 where it does not. Raises Unreadable for nonsense."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise Unreadable(f"{str(value)[:40]} is not a number of tokens")
    return value


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
        body = json.loads(content.decode("utf-8"))
        (entry,) = body["data"]
        values = entry["embedding"]
        if not isinstance(values, list) or not 0 < len(values) <= MOST_DIMENSIONS:
            raise ValueError("no list of numbers")
        if not all(type(value) in (int, float) for value in values):
            raise ValueError("a vector of other things than numbers")
        text, usage = vector_text(values), body.get("usage") or {}
        taken, served = tokens(usage.get("prompt_tokens")), body.get("model")
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
        body = json.loads(content.decode("utf-8"))
        usage = body.get("usage") or {}
        taken, given = tokens(usage.get("input_tokens")), tokens(usage.get("output_tokens"))
        if (segments := body.get("segments")) is None:
            segments = [{"start": 0.0, "end": float(request.slots["seconds"]), "text": body["text"]}]
        listed = [{name: segment[name] for name in ("start", "end", "text")} for segment in segments]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's transcript cannot be read: {error!r}"[:DETAIL]) from None
    return Reply(json.dumps({"segments": listed}, ensure_ascii=False), tokens_in=taken, tokens_out=given)


def path_of(role: EngineSettings) -> str:
    """The path of a role's calls, below the address of its endpoint."""
    return "/embeddings" if isinstance(role, EmbedSettings) else "/chat/completions"


def body_of(request: Request, role: EngineSettings) -> dict:
    """The body of a call."""
    if isinstance(role, EmbedSettings):
        return embedding_body(request, role)
    return chat_body(request, role.model, role.video_input)


def read_answer(content: bytes, role: EngineSettings) -> Reply:
    """The reply in the bytes of an answer. Raises Unreadable for anything that is not as the protocol promises."""
    if isinstance(role, EmbedSettings):
        return embedding_reply(content, role.model)
    return reply_of(content, role.model)
