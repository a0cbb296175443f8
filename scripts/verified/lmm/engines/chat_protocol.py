"""OpenAI's chat protocol, as bytes: what a request looks like, and how an answer is read without trusting it."""

import dataclasses
import json
import re
from collections.abc import Collection
from typing import Any

from verified.errors import InputError
from verified.io.jsonl import finite
from verified.lmm.engines.media import data_url, jpeg_of, mp4_url, video_facts, video_url
from verified.lmm.request import Reply, Request

FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
FIELDS = {
    "max_tokens": ("max_tokens",),
    "top_p": ("top_p",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "json schema", "structured outputs?", "guided_json"),
}
"""Fields that a request can do without, and how errors name them; of two that exclude one another, the first goes."""
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
SCORING = {"prompt_logprobs": 1, "continue_final_message": True, "add_generation_prompt": False}
"""What vLLM's server is asked for beside the protocol: log-probabilities of a prompt that ends with a given answer."""
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Of a message: vLLM's and SGLang's, older and newer; Ollama's; OpenRouter's."""
MOST_TOKENS = 10**8
"""Most tokens of one call; a larger number that an endpoint reports is nonsense."""
DETAIL = 500
"""Characters kept of an endpoint's error message."""


class Unreadable(ValueError):
    """An answer that violates the protocol; the message says how."""


def chat_body(request: Request, model: str, video_input: str = "stills") -> dict:
    """The body of a request to `/chat/completions`; a clip goes as `video_input` says.

    A request with the slot `continuation` asks for its log-probabilities as the answer: it is taken off the prompt.
    """
    prompt = request.prompt.removesuffix(request.slots.get("continuation", "")).rstrip()
    content: str | list[dict] = prompt if "continuation" in request.slots else request.prompt
    media, beside = shown_media(request, video_input)
    if media:
        content = [*media, {"type": "text", "text": content}]
    messages: list[dict] = [{"role": "user", "content": content}]
    if (scored := request.slots.get("continuation")) is not None:
        beside = {**beside, **SCORING}
        messages.append({"role": "assistant", "content": scored})
    body = {
        "model": model,
        "messages": messages,
        "max_tokens": request.sampling.max_tokens,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "seed": request.seed % 2**31,
        **beside,
    }
    if request.sampling.chat_template_kwargs:
        body["chat_template_kwargs"] = json.loads(request.sampling.chat_template_kwargs)
    if request.schema:
        schema = {"name": request.task, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def shown_media(request: Request, video_input: str) -> tuple[list[dict], dict]:
    """The parts of a message that show a request's pictures or clip, and what vLLM is told beside the messages."""
    images, beside, media = list(request.images), {}, []
    if request.frames is not None and video_input == "stills":
        images += [jpeg_of(frame) for frame in request.frames]
    elif request.frames is not None and video_input == "mp4":
        media = [{"type": "video_url", "video_url": {"url": mp4_url(request.frames, request.frame_times)}}]
    elif request.frames is not None:
        media = [{"type": "video_url", "video_url": {"url": video_url(request.frames)}}]
        beside = {"media_io_kwargs": {"video": {"num_frames": -1, **video_facts(request.frame_times)}}}
    return [*({"type": "image_url", "image_url": {"url": data_url(image)}} for image in images), *media], beside


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
    notes: dict[str, Any] = (
        {"served_model": served[:200]} if isinstance(served, str) and served not in ("", model) else {}
    )
    if reason == "content_filter":
        return Reply("", "blocked", "content-filter", "the endpoint filtered the answer", **taken, notes=notes)
    if declined:
        return Reply("", "blocked", "refusal", str(declined)[:DETAIL], **taken, notes=notes)
    if unseen:
        notes["thought_tokens"] = unseen
    return Reply(text, "length" if reason == "length" else "stop", **taken, notes=notes, thought=thought)


def thought_of(message: dict) -> str:
    """What a server with a reasoning parser puts beside the content, or among its blocks."""
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


def score_of(content: bytes, continuation: str, model: str) -> Reply:
    """The mean log-probability of a given answer, ``{"mean_log_probability": ..., "tokens": ...}``, from the bytes of
    an answer with vLLM's ``prompt_logprobs``: of each token of the prompt a mapping of ids, its own the first, to
    ``logprob`` and ``decoded_token``.

    Raises Unreadable as `reply_of`, and InputError where the endpoint gives none.
    """
    reply = reply_of(content, model)
    prompt = json.loads(content.decode("utf-8")).get("prompt_logprobs")
    if not isinstance(prompt, list) or not prompt:
        raise no_scores(model, "its answer holds no `prompt_logprobs`")
    rest, values = _letters(continuation), []
    try:
        for token in reversed(prompt):
            if not rest:
                break
            own = next(one for one in token.values() if rest.endswith(_letters(one["decoded_token"])))
            rest = rest.removesuffix(_letters(own["decoded_token"]))
            if not finite(own["logprob"]):
                raise ValueError("a token without a log-probability")
            values.append(min(0.0, own["logprob"]))
    except (AttributeError, KeyError, TypeError, ValueError, StopIteration):
        rest = rest or "?"
    if rest:
        detail = f"the tokens of the prompt do not end with {continuation!r:.80}; left over: {rest[-40:]!r}"
        return dataclasses.replace(reply, text="", finish="error", reason="scoring", detail=detail)
    text = json.dumps({"mean_log_probability": round(sum(values) / len(values), 6), "tokens": len(values)})
    return dataclasses.replace(reply, text=text, finish="stop")


def _letters(text: str) -> str:
    """What survives of a text when its tokens are decoded one by one: ASCII, without blanks, which some tokenisers
    drop; other characters may be split between tokens."""
    return "".join(letter for letter in text if letter.isascii() and not letter.isspace())


def no_scores(model: str, why: str) -> InputError:
    """The error of an endpoint that cannot score a given answer."""
    return InputError(
        f"the endpoint of {model!r} gives no log-probabilities of a given answer: {why}"[:DETAIL],
        remedy="serve the model with vLLM, whose chat completions take `prompt_logprobs`; use `engine: transformers`; "
        "or ask by a protocol that scores nothing, such as answer_with_span",
    )


def tokens(value: object) -> int:
    """A number of tokens that an endpoint reports, 0 where it does not. Raises Unreadable for nonsense."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise Unreadable(f"{str(value)[:40]} is not a number of tokens")
    return value


def untaken(status: int, body: object, message: str, sent: dict) -> str | None:
    """The field of a request's body that the model does not take, as an error says; None for any other error.

    A value that is out of its range is another error: no request without the field would be what was asked for.
    """
    if status not in (400, 422):
        return None
    named = str(body.get("param") or "") if isinstance(body, dict) else ""
    said = f"{message} {body if isinstance(body, str) else json.dumps(body, default=str)}"[: 4 * DETAIL]
    if not UNSUPPORTED.search(said) or OUT_OF_RANGE.search(said):
        return None
    for field in FIELDS:
        if field in sent and any(re.search(rf"\b{name}\b", named) for name in FIELDS[field]):
            return field
    for field in FIELDS:
        if field in sent and any(re.search(rf"\b{name}\b", said, re.I) for name in FIELDS[field]):
            return field
    return None


def taken_body(body: dict, without: Collection[str]) -> dict:
    """A body as a model takes it that does not take some fields; the limit of tokens goes by its other name."""
    taken = {name: value for name, value in body.items() if name not in without}
    if "max_tokens" in without and "max_tokens" in body:
        taken["max_completion_tokens"] = body["max_tokens"]
    return taken


def error_of(status: int, body: object, message: str, key_variable: str, model: str) -> Reply:
    """What an error status means for the call. Raises InputError where no further call can succeed."""
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
