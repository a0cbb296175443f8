"""Dynamics captions (section 3.2, Equations 3 to 5; supplement listings 4 to 6)."""

import re
from dataclasses import replace

from verified.lmm.parsing import (
    clean,
    first_paragraph,
    json_value,
    numbered_pieces,
    numbered_values,
    strip_fences,
    text_of,
    whole_sentences,
)
from verified.lmm.request import Parsed
from verified.lmm.tasks import SAID, TEXT, Task, object_schema, words
from verified.lmm.tasks.numbered import first_worded, list_task, read_captions, read_items


def read_answers(_slots: dict[str, str], text: str, count: int, cut: bool) -> Parsed:
    """Numbered answers followed by a free description (listing 5)."""
    text = strip_fences(text)
    value = json_value(text)
    answers = value.get("answers", value) if isinstance(value, dict) else None
    answers = numbered_values(answers) if isinstance(answers, dict) else answers
    if isinstance(value, dict) and isinstance(answers, list) and answers:
        items = [clean(answer_of(item)) for item in answers][:count]
        description = clean(text_of(value.get("description")))
    else:
        items, description = _split_numbered_and_text(text, count)
        if cut and description:
            description = whole_sentences(description)
        elif cut:
            items = items[:-1]
    parsed = first_worded(items, count)
    return replace(parsed, sections={"description": description}, missing=parsed.missing + (not description))


def answer_of(value: object) -> str:
    """The answer in a value of the list, which may repeat its question."""
    inner = value.get("answer", value.get("a")) if isinstance(value, dict) else None
    return text_of(value if inner is None else inner)


def _split_numbered_and_text(text: str, count: int) -> tuple[list[str], str]:
    pieces = numbered_pieces(text)[:count]
    if not pieces:
        return [], ""
    tail = text[text.rindex(pieces[-1]) + len(pieces[-1]) :] if len(numbered_pieces(text)) > count else ""
    last, _, description = pieces[-1].strip().partition("\n")
    if not description.strip():
        sentences = re.split(r"(?<=[.!?])\s+|(?<=[。！？])", last, maxsplit=1)
        last, description = sentences[0], sentences[1] if len(sentences) == 2 else ""
    description = re.sub(
        r"^[\s*#]*(?:detailed\s+)?(?:dynamic\s+)?(?:description|desc)[^:：\n]{0,40}[:：][\s*]*",
        "",
        description.strip(),
        flags=re.I,
    )
    items = [clean(first_paragraph(piece)) for piece in pieces[:-1]] + [clean(last)]
    return items, clean(description or tail)


def _schema(count: int) -> dict:
    answers = {"type": "array", "items": TEXT, "minItems": count, "maxItems": count}
    return object_schema({"answers": answers, "description": TEXT})


def _example(count: int, identity: str) -> Parsed:
    text = words(240 // (count + 1), identity)
    return Parsed((text,) * count, {"description": text}, tuple(range(count)))


QUESTIONS = list_task("questions", ("caption", "count"), 90, read_items, followed=True, settings=("questions",))
ANSWERS = Task(
    "answers",
    "video_lmm",
    ("caption", "duration", "frame_number", "questions"),
    read_answers,
    _schema,
    240,
    _example,
    followed=True,
    optional=SAID,
    settings=("frame_side",),
)
DYNAMICS_CANDIDATES = list_task(
    "dynamics_candidates",
    ("caption", "start", "end", "questions_and_answers", "description", "count"),
    80,
    read_captions,
    optional=SAID,
    settings=("candidates",),
)
TASKS = (QUESTIONS, ANSWERS, DYNAMICS_CANDIDATES)
