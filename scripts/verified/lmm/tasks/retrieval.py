"""A video LMM grades how well a clip fits a sentence. Answers are read from JSON or from words."""

import re

from verified.lmm.parsing import best_object
from verified.lmm.request import Parsed
from verified.lmm.tasks import Task, object_schema

MOST = 10
"""The highest confidence, and the best grade."""


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
    return Parsed(missing=1) if grade is None else Parsed(sections={"grade": f"{grade:g}"}, form="json")


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
)
