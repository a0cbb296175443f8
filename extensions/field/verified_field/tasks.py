"""Tasks of a video LMM after a first stage: locating a sentence in a video, and grading a clip.

Answers are read from JSON or from words, ignoring surrounding text.
"""

import re
from random import Random

from verified.lmm.parsing import best_object, json_value, seconds, span, span_in_words
from verified.lmm.request import Parsed, Reply, Request
from verified.lmm.tasks import Task, object_schema
from verified_field.config import Rows

MOST = 10
"""The highest confidence, and the best grade."""
MOST_MOMENTS = 20
"""More that an answer lists are not read."""
NAMES: dict[str, str] = dict.fromkeys(
    ("relevant_windows", "pred_relevant_windows", "windows", "timestamps", "segments"), "moments"
)
"""Other names of the list of moments."""
NOT_SHOWN = re.compile(r"\b(?:none|not shown|no(?:t any)? (?:such )?(?:moment|part|time)|never|does not show)\b", re.I)


def number(value: object) -> float | None:
    """A number from 0 to 10, also written as "7", "7/10" or "7 of 10"; None for other texts."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d{1,2}(?:\.\d{1,6})?)\s*(?:(?:/|of|out of)\s*10)?\s*", value)
        value = float(match.group(1)) if match else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MOST:
        return None
    return float(value)


def read_grade(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A grade from 0 to 10, as JSON or as the only number of an answer."""
    value = best_object(text, ("grade",)).get("grade")
    if value is None:
        numbers = re.findall(r"(?<![\w.])\d{1,2}(?:\.\d+)?(?![\w.]*\d)(?:\s*/\s*10)?", text)
        value = numbers[0] if len(numbers) == 1 else None
    grade = number(value)
    return Parsed(missing=1) if grade is None else Parsed(sections={"grade": f"{grade:g}"})


def read_moments(_slots: dict, text: str, _count: int, cut: bool) -> Parsed:
    """The moments of an answer: "start end confidence" each, with semicolons between, or the word none.

    Moments without confidence have the middle one; those without two times are omitted.
    """
    value = json_value(text)
    listed = value if isinstance(value, list) else best_object(text, ("moments",), NAMES).get("moments")
    if isinstance(value, dict) and listed is None and {"start", "end"} & value.keys():
        listed = [value]
    if isinstance(listed, list) and len(listed) == 2 and all(seconds(value) is not None for value in listed):
        listed = [listed]  # one moment, as a pair of times
    moments = [
        moment for moment in map(_moment, (listed or [])[:MOST_MOMENTS] if isinstance(listed, list) else []) if moment
    ]
    if moments:
        return Parsed(sections={"moments": "; ".join(moments)}, missing=int(cut))
    if listed == [] or text.strip() == "[]":
        return Parsed(sections={"moments": "none"})
    if not listed and (span := span_in_words(text)):
        return Parsed(sections={"moments": f"{span} {MOST / 2:g}"}, missing=int(cut))
    if not listed and NOT_SHOWN.search(text):
        return Parsed(sections={"moments": "none"})
    return Parsed(missing=1)


def _moment(value: object) -> str | None:
    sure: object = None
    if isinstance(value, dict):
        sure, value = value.get("confidence"), [value.get("start"), value.get("end")]
    elif isinstance(value, list) and len(value) == 3:
        *value, sure = value
    times = span(value)
    if times is None:
        return None
    confidence = number(sure)
    return f"{times} {MOST / 2 if confidence is None else confidence:g}"


def moments_of(text: str) -> list[tuple[float, float, float]]:
    """(start, end, confidence) of each moment of a text that `read_moments` wrote."""
    if text == "none":
        return []
    return [(float(a), float(b), float(c)) for a, b, c in (part.split() for part in text.split("; "))]


def _answer_of_demo(request: Request, _rng: Random, _corrupted_share: float) -> Reply:
    from verified_field import scene_reader

    return scene_reader.reply(request)


_TIME = {"type": "number", "minimum": 0}
_MOMENT = object_schema({"start": _TIME, "end": _TIME, "confidence": {"type": "number", "minimum": 0, "maximum": MOST}})
GROUND = Task(
    "retrieval/ground",
    "video_lmm",
    ("caption", "duration", "frame_number"),
    read_moments,
    lambda _count: object_schema({"moments": {"type": "array", "items": _MOMENT, "minItems": 0}}),
    40,
    lambda _count, _identity: Parsed(sections={"moments": "0 1 5"}),
    settings=("frame_side",),
    always_json=True,
    needs_times=True,
    demo=_answer_of_demo,
)
GRADE = Task(
    "retrieval/grade",
    "video_lmm",
    ("caption", "duration", "frame_number"),
    read_grade,
    lambda _count: object_schema({"grade": {"type": "integer", "minimum": 0, "maximum": MOST}}),
    8,
    lambda _count, _identity: Parsed(sections={"grade": "5"}),
    settings=("frame_side",),
    always_json=True,
    demo=_answer_of_demo,
)


def follow_up_tasks(rows: Rows) -> tuple[Task, ...]:
    """Tasks of the grounder and the re-ranker, if a configuration has them."""
    return (
        *((GROUND,) if rows.grounder.first_stages else ()),
        *((GRADE,) if rows.reranker.first_stages else ()),
    )
