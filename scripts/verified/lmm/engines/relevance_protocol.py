"""The `/score` of vLLM's server in pooling mode, as bytes: a sentence and a clip in, a number out."""

import json

from verified.config.generation import RerankSettings
from verified.io.jsonl import finite
from verified.lmm.engines.chat_protocol import DETAIL, Unreadable, shown_media, tokens
from verified.lmm.request import Reply, Request


def relevance_body(request: Request, settings: RerankSettings) -> dict:
    """The body of a request to `/score`: the first text is the query, the second what is shown."""
    media, more = shown_media(request, settings.video_input)
    return {"model": settings.model, "text_1": request.prompt, "text_2": {"content": media}, **more}


def relevance_reply(content: bytes, model: str) -> Reply:
    """A reply with the score, ``{"score": ...}``. Raises Unreadable for an answer without one."""
    try:
        body = json.loads(content.decode("utf-8"))
        (entry,) = body["data"]
        score = entry["score"]
        if not finite(score):
            raise ValueError("no number")
        usage = body.get("usage") or {}
        taken, served = tokens(usage.get("prompt_tokens")), body.get("model")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's score cannot be read: {error!r}"[:DETAIL]) from None
    notes = {"served_model": served[:200]} if isinstance(served, str) and served not in ("", model) else {}
    return Reply(json.dumps({"score": float(score)}), tokens_in=taken, notes=notes)
