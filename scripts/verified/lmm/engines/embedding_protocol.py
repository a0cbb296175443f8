"""OpenAI's `/embeddings`, as bytes, and the form of a chat in which vLLM's server takes pictures there.

The chat ends in an empty answer that the model would go on with, as vLLM's examples ask Qwen3-VL-Embedding: the last
token is then the same as in the model's own code.
"""

import json

from verified.config.generation import EmbedSettings
from verified.lmm.engines.chat_protocol import DETAIL, Unreadable, shown_media, tokens
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.embedding import vector_text

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
    notes = {"served_model": served[:200]} if isinstance(served, str) and served not in ("", model) else {}
    return Reply(text, tokens_in=taken, notes=notes)
