"""Read the JSON that ends a reply: free text before it, fences, ``//`` comments, trailing commas, keys in any case.

All functions return `Parsed` with the values as text under `sections`; an answer that lacks a key or holds an
impossible value gives no section at all and counts what is missing, so that it is asked for again.
"""

import json
import re
from collections.abc import Iterable

from verified.lmm.outcome import Parsed

STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
MOST_BRACES = 60
"""Opening braces that are tried as the start of an object; no answer has more."""
RELEVANT = ("yes", "no")
ALIGNED = ("high", "medium", "low")
SCORES = ("directness", "necessity", "intentionality", "purpose", "similarity")
SAME_KEY = {"proactiveness": "intentionality"}
"""Listing C.8.1 asks for proactiveness and its JSON says Intentionality."""
LETTER = re.compile(r"\(?\b([A-D])\b\)?", re.I)


def objects(text: str) -> list[dict]:
    """The outermost JSON objects of a reply, in their order, keys normalised, comments and trailing commas removed."""
    text = STRING_OR_COMMENT.sub(lambda match: match.group(1) or " ", text)
    text = re.sub(r",(\s*[}\]])", r"\1", text)
    decoder, values, position = json.JSONDecoder(strict=False), [], 0
    for _ in range(MOST_BRACES):
        position = text.find("{", position)
        if position < 0:
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError, ValueError):
            position += 1
            continue
        values.append(_normalised(value))
    return values


def _normalised(value: dict) -> dict:
    keys = {name: re.sub(r"[\W_]+", "_", str(name).strip().lower()).strip("_") for name in value}
    return {SAME_KEY.get(key, key): value[name] for name, key in keys.items()}


def best_object(text: str, wanted: Iterable[str]) -> dict:
    """The object with most of the `wanted` keys, the last of equals; empty if there is none."""
    wanted = set(wanted)
    candidates = [(len(wanted & value.keys()), number, value) for number, value in enumerate(objects(text))]
    count, _, value = max(candidates, key=lambda one: one[:2], default=(0, 0, {}))
    return value if count else {}


def sentence(value: object) -> str | None:
    """A text of at least one word on one line; None if it is none."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    return text if re.search(r"\w", text) else None


def score(value: object) -> str | None:
    """A whole number from 0 to 3, also written as "2", 2.0 or "2/3"; None if it is none."""
    if isinstance(value, str) and (match := re.fullmatch(r"\s*([0-3])(?:\.0)?\s*(?:/\s*3)?\s*", value)):
        return match.group(1)
    if isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 1, 2, 3):
        return str(int(value))
    return None


def seconds(value: object) -> float | None:
    """Seconds, also written as "12.5", "12.5 s", "1:05" or "00:01:05"; None if it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e6 else None
    if not isinstance(value, str):
        return None
    text = re.sub(r"\s*(?:s|sec|secs|seconds?)\s*$", "", value.strip(), flags=re.I)
    if not re.fullmatch(r"(?:\d{1,4}:){0,2}\d{1,5}(?:\.\d{1,6})?", text):
        return None
    total = 0.0
    for digits in text.split(":"):
        total = 60 * total + float(digits)
    return total


def span(value: object) -> str | None:
    """``"start end"`` in seconds from [start, end] or a text that holds two times; None if it is none."""
    if isinstance(value, str):
        value = re.findall(r"\d[\d:.]*", value)
    if not isinstance(value, list) or len(value) != 2:
        return None
    times = [seconds(end_text) for end_text in value]
    return None if None in times else f"{times[0]:g} {times[1]:g}"


def span_of(text: str) -> tuple[float, float]:
    """The two times of a text that `span` wrote."""
    start, end = text.split()
    return float(start), float(end)


def _parsed(sections: dict[str, str | None], form: str = "json") -> Parsed:
    given = {name: value for name, value in sections.items() if value is not None}
    missing = len(sections) - len(given)
    if missing:
        return Parsed(missing=missing, form="none" if missing == len(sections) else "json-incomplete")
    return Parsed(sections=given, form=form)


def event_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Two events with their times and five scores (C.8.1)."""
    value = best_object(text, ("event1", "event2", *SCORES))
    pair = {name: sentence(value.get(name)) for name in ("event1", "event2")}
    pair |= {f"{name}_span": span(value.get(f"{name}_timestamp")) for name in ("event1", "event2")}
    return _parsed(pair | {name: score(value.get(name)) for name in SCORES})


def related_event(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Cause and effect of a pivotal event, each with relevance and alignment, or the word none (C.8.2).

    A side that the answer leaves out or calls none has relevance no.
    """
    sides = ("cause", "effect")
    value = best_object(text, (*sides, "cause_relevant", "effect_relevant"))
    if not value:
        if re.search(r"\bnone\b", text, re.I):
            return Parsed(sections={"none": "none"}, form="none-said")
        return Parsed(missing=2)
    events: dict[str, str | None] = {}
    for side in sides:
        event = sentence(value.get(side))
        relevant = _word(value.get(f"{side}_relevant"), RELEVANT)
        aligned = _word(value.get(f"{side}_alignment"), ALIGNED)
        if event is None or re.fullmatch(r"(?:none|n/?a|null)\.?", event, re.I) or relevant == "no":
            event, relevant, aligned = event or "none", "no", aligned or "low"
        events |= {side: event, f"{side}_relevant": relevant, f"{side}_alignment": aligned}
    return _parsed(events)


def _word(value: object, words: tuple[str, ...]) -> str | None:
    match = re.match(rf"\W*({'|'.join(words)})\b", value, re.I) if isinstance(value, str) else None
    return match.group(1).lower() if match else None


def _two_questions(value: dict) -> dict[str, str | None]:
    questions: dict[str, str | None] = {}
    for number in ("1", "2"):
        inner = value.get(f"type{number}", value.get(f"type_{number}"))
        inner = _normalised(inner) if isinstance(inner, dict) else {}
        questions |= {
            f"question{number}": sentence(inner.get("question")),
            f"answer{number}": sentence(inner.get("answer")),
        }
    return questions


def question_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A question and its answer in both directions (C.8.4 and C.8.5)."""
    return _parsed(_two_questions(best_object(text, ("type1", "type2", "type_1", "type_2"))))


def sequential_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Two events with their times, and a question in both directions (C.8.3)."""
    names = ("pre_event", "post_event")
    value = best_object(text, (*names, "type1", "type2", "type_1", "type_2"))
    pair = {name: sentence(value.get(name)) for name in names}
    pair |= {f"{name}_span": span(value.get(f"{name}_timestamp")) for name in names}
    return _parsed(pair | _two_questions(value))


def verification(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A score of each of two question-answer pairs (C.8.6)."""
    names = ("case_1_score", "case_2_score")
    value = best_object(text, names)
    return _parsed({name: score(value.get(name)) for name in names})


def options(slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Three wrong answers (C.8.7), different from one another and from the right one."""
    names = tuple(f"wrong_answer_{number}" for number in (1, 2, 3))
    value = best_object(text, names)
    texts = {name: sentence(value.get(name)) for name in names}
    seen = {_plain(slots["answer"])}
    for name, wrong in texts.items():
        if wrong is not None and _plain(wrong) in seen:
            texts[name] = None
        seen.add(_plain(wrong or ""))
    return _parsed(texts)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def answer_with_span(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A letter and the span that shows it, as JSON or in words."""
    value = best_object(text, ("relevant_span", "answer"))
    letter = value.get("answer") if value else text
    match = LETTER.search(letter) if isinstance(letter, str) else None
    answer = {"answer": match.group(1).upper() if match else None}
    return _parsed(answer | {"span": span(value.get("relevant_span")) or span_in_words(text)})


def located(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A span in words, as grounding models say it: "from 12 to 30"."""
    return _parsed({"span": span_in_words(text)}, "words")


def scored(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """The mean log-probability of a continuation, as lmm/engines/scoring.py writes it."""
    value = best_object(text, ("mean_log_probability",)).get("mean_log_probability")
    if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
        return _parsed({"mean_log_probability": repr(float(value))})
    return _parsed({"mean_log_probability": None})


def span_in_words(text: str) -> str | None:
    """The first "12 to 30", "12.5 - 30" or "00:12 and 00:30" of a text; None if there is none."""
    time = r"(\d{1,4}(?::\d{2}){0,2}(?:\.\d{1,6})?)"
    match = re.search(rf"{time}\s*(?:s|sec|seconds)?\s*(?:to|and|until|[-–—,])\s*{time}", text, re.I)
    return span([match.group(1), match.group(2)]) if match else None
