"""Transcription of a piece of sound, with times: the one task of the role `speech`."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from verified.io.characters import plain
from verified.io.jsonl import finite
from verified.lmm.request import Parsed
from verified.lmm.tasks import TEXT, Task, object_schema


class Segment(NamedTuple):
    """Speech from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str


def segments(text: str) -> Iterator[Segment]:
    """Segments of an answer in its order, without those that lack words. Raises ValueError for another form."""
    value = json.loads(text)
    listed = value.get("segments") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no list of segments")
    for segment in listed:
        if not isinstance(segment, dict) or not isinstance(segment.get("text"), str):
            raise ValueError("a segment without text")
        start, end = segment.get("start"), segment.get("end")
        if not finite(start) or not finite(end) or not 0 <= start <= end:
            raise ValueError(f"a segment from {start!r:.20} to {end!r:.20}")
        if words := plain(segment["text"]):
            yield Segment(float(start), float(end), words)


def read_transcription(_slots: dict[str, str], text: str, _count: int, cut: bool) -> Parsed:
    """The segments of an answer; silence is a valid answer, with a single part for "no speech"."""
    try:
        parts = list(segments(text))
    except (ValueError, RecursionError):
        return Parsed(missing=1)
    speech = " ".join(segment.text for segment in parts)
    return Parsed(sections={"said": speech or "nothing"}, missing=int(cut))


SEGMENT = object_schema({"start": {"type": "number"}, "end": {"type": "number"}, "text": TEXT})
TRANSCRIPTION = Task(
    "speech/transcription",
    "speech",
    ("language", "seconds"),
    read_transcription,
    lambda _count: object_schema({"segments": {"type": "array", "items": SEGMENT, "minItems": 0}}),
    0,
    lambda _count, _identity: Parsed(sections={"said": "nothing"}),
    prompted=False,
)
"""Its sound lasts the `seconds` of its slots."""
