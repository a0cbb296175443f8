"""A first coarse caption for a scene of a video without moments."""

import re
from collections.abc import Mapping

from verified.io.characters import plain
from verified.lmm.parsing import clean, json_value, strip_fences, text_of
from verified.lmm.refusal import refusal
from verified.lmm.request import Parsed
from verified.lmm.tasks import TEXT, Task, object_schema


def read_caption(slots: Mapping[str, str], text: str, count: int, cut: bool) -> Parsed:
    """The caption of an answer: its JSON value, or its first line; one that is refused as a caption is missing."""
    text = strip_fences(text)
    value = json_value(text)
    if isinstance(value, dict):
        text_read, form = text_of(value), "json"
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        text_read, form = (
            re.sub(r"^\s*(?:caption|sentence)\s*[:：]\s*", "", lines[0], flags=re.I) if lines else "",
            "line",
        )
        text_read = "" if cut and len(lines) < 2 else text_read
    caption = plain(clean(text_read))
    reason = refusal(caption, "")
    if reason:
        return Parsed(refused=({"caption": caption[:1000], "reason": reason},) if caption else (), missing=1, form=form)
    return Parsed(items=(caption,), positions=(0,), form=form)


COARSE_CAPTION = Task(
    "corpus/coarse_caption",
    "video_lmm",
    ("duration", "frame_number"),
    read_caption,
    lambda _count: object_schema({"caption": TEXT}),
    15,
    lambda _count, _identity: Parsed(items=("a person does something",), positions=(0,)),
    settings=("frame_side",),
    always_json=True,
)
