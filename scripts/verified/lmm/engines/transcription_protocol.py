"""OpenAI's `/audio/transcriptions`, as bytes: what a request looks like, and how an answer is read."""

import json

from verified.lmm.engines.chat_protocol import DETAIL, Unreadable, tokens
from verified.lmm.request import Reply, Request


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
        if (heard := body.get("segments")) is None:
            heard = [{"start": 0.0, "end": float(request.slots["seconds"]), "text": body["text"]}]
        listed = [{name: segment[name] for name in ("start", "end", "text")} for segment in heard]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"the endpoint's transcript cannot be read: {error!r}"[:DETAIL]) from None
    return Reply(json.dumps({"segments": listed}, ensure_ascii=False), tokens_in=taken, tokens_out=given)
