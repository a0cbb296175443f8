"""Tasks of ReXTime (supplement C.8.1 to C.8.7, and the prompts of models).

Answers end in JSON: free text before it, fences, comments, trailing commas and keys in any case are read. An answer
that lacks a key or has an impossible value gives no part and counts the missing ones, so that it is requested again.
"""

import re
from collections.abc import Callable
from random import Random

from verified.lmm.parsing import best_object, normalise_keys, span, span_in_words
from verified.lmm.request import Parsed, Reply, Request
from verified.lmm.tasks import TEXT, Task, object_schema

WORDS = "a few words that say what happens"
SCORE = {"type": "integer", "minimum": 0, "maximum": 3}
TIMES = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
RELEVANT = ("yes", "no")
ALIGNED = ("high", "medium", "low")
SCORES = ("directness", "necessity", "intentionality", "purpose", "similarity")
SAME_KEY = {"proactiveness": "intentionality"}
"""Listing C.8.1 asks for proactiveness and its JSON says Intentionality."""
ALONE = r"(?:[B-D]\b|A\b(?!\s+(?!(?:is|as|because|since|and|or|which)\b)[a-z]))"
"""An option's letter in a sentence, where "a" and "A man" are words, and "A because" is not."""
LETTERS = (
    re.compile(r"\W*(?:option\s+)?([A-D])(?=\W*$|[.:)\]\"'])", re.I),
    re.compile(rf"(?i:\b(?:answer|option|choice)(?:\s+is)?)\W*({ALONE})"),
    re.compile(r"\(([A-D])\)", re.I),
    re.compile(rf"\b({ALONE})"),
)
"""Positions of an answer's letter, surest first: at its beginning, after "answer is", in brackets, elsewhere."""


def span_of(text: str) -> tuple[float, float]:
    """The two times of a text that `span` wrote."""
    start, end = text.split()
    return float(start), float(end)


def read_log_probability(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """The mean log-probability of a continuation, as `scoring` writes it."""
    value = best_object(text, ("mean_log_probability",)).get("mean_log_probability")
    if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
        return Parsed(sections={"mean_log_probability": repr(float(value))})
    return Parsed(missing=1)


def sentence(value: object) -> str | None:
    """A text of at least one word on one line; None for other texts."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    return text if re.search(r"\w", text) else None


def score(value: object) -> str | None:
    """A whole number from 0 to 3, also written as "2", 2.0 or "2/3"; None for other values."""
    if isinstance(value, str) and (match := re.fullmatch(r"\s*([0-3])(?:\.0)?\s*(?:/\s*3)?\s*", value)):
        return match.group(1)
    if isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 1, 2, 3):
        return str(int(value))
    return None


def _parse_sections(sections: dict[str, str | None]) -> Parsed:
    texts = {name: value for name, value in sections.items() if value is not None}
    missing = len(sections) - len(texts)
    return Parsed(missing=missing) if missing else Parsed(sections=texts)


def event_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Two events with their times and five scores (C.8.1)."""
    value = best_object(text, ("event1", "event2", *SCORES), SAME_KEY)
    pair = {name: sentence(value.get(name)) for name in ("event1", "event2")}
    pair |= {f"{name}_span": span(value.get(f"{name}_timestamp")) for name in ("event1", "event2")}
    return _parse_sections(pair | {name: score(value.get(name)) for name in SCORES})


def related_event(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Cause and effect of a pivotal event, each with relevance and alignment, or the word none (C.8.2).

    A side that the answer omits or calls none has relevance no.
    """
    sides = ("cause", "effect")
    value = best_object(text, (*sides, "cause_relevant", "effect_relevant"))
    if not value:
        if re.search(r"\bnone\b", text, re.I):
            return Parsed(sections={"none": "none"})
        return Parsed(missing=2)
    events: dict[str, str | None] = {}
    for side in sides:
        event = sentence(value.get(side))
        relevant = _word(value.get(f"{side}_relevant"), RELEVANT)
        aligned = _word(value.get(f"{side}_alignment"), ALIGNED)
        if event is None or re.fullmatch(r"(?:none|n/?a|null)\.?", event, re.I) or relevant == "no":
            event, relevant, aligned = event or "none", "no", aligned or "low"
        events |= {side: event, f"{side}_relevant": relevant, f"{side}_alignment": aligned}
    return _parse_sections(events)


def _word(value: object, words: tuple[str, ...]) -> str | None:
    match = re.match(rf"\W*({'|'.join(words)})\b", value, re.I) if isinstance(value, str) else None
    return match.group(1).lower() if match else None


def _two_questions(value: dict) -> dict[str, str | None]:
    questions: dict[str, str | None] = {}
    for number in ("1", "2"):
        inner = value.get(f"type{number}", value.get(f"type_{number}"))
        inner = normalise_keys(inner) if isinstance(inner, dict) else {}
        questions |= {
            f"question{number}": sentence(inner.get("question")),
            f"answer{number}": sentence(inner.get("answer")),
        }
    return questions


def question_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A question and its answer in both directions (C.8.4 and C.8.5)."""
    return _parse_sections(_two_questions(best_object(text, ("type1", "type2", "type_1", "type_2"))))


def sequential_pair(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Two events with their times, and a question in both directions (C.8.3)."""
    names = ("pre_event", "post_event")
    value = best_object(text, (*names, "type1", "type2", "type_1", "type_2"))
    pair = {name: sentence(value.get(name)) for name in names}
    pair |= {f"{name}_span": span(value.get(f"{name}_timestamp")) for name in names}
    return _parse_sections(pair | _two_questions(value))


def verification(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A score of each of two question-answer pairs (C.8.6)."""
    names = ("case_1_score", "case_2_score")
    value = best_object(text, names)
    return _parse_sections({name: score(value.get(name)) for name in names})


def options(slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """Three wrong answers (C.8.7), different from one another and from the right one."""
    names = tuple(f"wrong_answer_{number}" for number in (1, 2, 3))
    value = best_object(text, names)
    texts = {name: sentence(value.get(name)) for name in names}
    sentences = {_plain(slots["answer"])}
    for name, wrong in texts.items():
        if wrong is not None and _plain(wrong) in sentences:
            texts[name] = None
        sentences.add(_plain(wrong or ""))
    return _parse_sections(texts)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def answer_with_span(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A letter and the span that shows it, as JSON or in words."""
    value = best_object(text, ("relevant_span", "answer"))
    letter = _letter(value.get("answer") if value else text)
    return _parse_sections({"answer": letter, "span": span(value.get("relevant_span")) or span_in_words(text)})


def _letter(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    match = LETTERS[0].match(text) or next(filter(None, (pattern.search(text) for pattern in LETTERS[1:])), None)
    return match.group(1).upper() if match else None


def parse_text(_slots: dict, text: str, _count: int, cut: bool) -> Parsed:
    """An answer in the model's words, as JSON or plain text, on one line; a cut-off answer is invalid."""
    value = best_object(text, ("answer",))
    return _parse_sections({"text": None if cut else sentence(value.get("answer") if value else text)})


def parse_span(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """A span in words, as grounding models say it: "from 12 to 30"."""
    return _parse_sections({"span": span_in_words(text)})


_WHY = {"explanation": TEXT}
"""The listings ask for a short explanation before the JSON; constrained answers hold it inside."""
_QUESTION = object_schema({"Question": TEXT, "Answer": TEXT})
_TWO_QUESTIONS = {"Type1": _QUESTION, "Type2": _QUESTION}
_EVENTS = {f"event{number}{suffix}": kind for number in (1, 2) for suffix, kind in (("", TEXT), ("_timestamp", TIMES))}
_PRE_POST = {
    f"{name}-event{suffix}": kind for name in ("pre", "post") for suffix, kind in (("", TEXT), ("_timestamp", TIMES))
}
_SIDES = {
    f"{side}{suffix}": kind
    for side in ("cause", "effect")
    for suffix, kind in (
        ("", TEXT),
        ("-relevant", {"enum": list(RELEVANT)}),
        ("-alignment", {"enum": list(ALIGNED)}),
    )
}
_PAIR_KEYS = {f"{suffix}{number}": WORDS for number in (1, 2) for suffix in ("question", "answer")}
_SEQUENTIAL = {"pre_event": WORDS, "pre_event_span": "0 1", "post_event": WORDS, "post_event_span": "1 2"}
_PAIR = {
    "event1": WORDS,
    "event1_span": "0 1",
    "event2": WORDS,
    "event2_span": "1 2",
    **dict.fromkeys(SCORES, "2"),
    "similarity": "0",
}


NEED_TIMES = ("answer_with_span", "score", "locate")
"""Tasks whose prompts or answers hold seconds of the video."""


def _answer_of_demo(request: Request, rng: Random, corrupted_share: float) -> Reply:
    from verified_rextime import scene_reader

    return scene_reader.reply(request, rng, corrupted_share)


def _answer_of_demo_from_frames(request: Request, rng: Random, _corrupted_share: float) -> Reply:
    from verified_rextime import scene_reader_frames

    return scene_reader_frames.reply(request, rng)


def _task(
    name: str,
    role: str,
    slots: tuple[str, ...],
    read: Callable[..., Parsed],
    properties: dict,
    tokens_out: int,
    **parts: str,
) -> Task:
    """A task whose answer is one object; `parts` are the parts of an ordinary answer, for quotes."""
    example = Parsed(sections=parts)

    def schema(_count: int) -> dict:
        return object_schema(properties)

    def same(_count: int, _identity: str) -> Parsed:
        return example

    return Task(
        f"rextime/{name}",
        role,
        slots,
        read,
        schema,
        tokens_out,
        same,
        settings=("frame_side",) if role == "video_lmm" else (),
        always_json=True,
        needs_times=name in NEED_TIMES,
        demo=_answer_of_demo_from_frames if role == "video_lmm" else _answer_of_demo,
    )


EVENT_PAIR = _task(
    "event_pair",
    "llm",
    ("captions",),
    event_pair,
    _WHY | _EVENTS | {name.capitalize(): SCORE for name in SCORES},
    260,
    **_PAIR,
)
RELATED_EVENT = _task(
    "related_event",
    "video_lmm",
    ("query", "frame_number"),
    related_event,
    {"explain": TEXT} | _SIDES,
    140,
    **{
        f"{side}{suffix}": value
        for side in ("cause", "effect")
        for suffix, value in (("", WORDS), ("_relevant", "yes"), ("_alignment", "high"))
    },
)
QUESTIONS = {
    "sequential": _task(
        "sequential",
        "llm",
        ("captions",),
        sequential_pair,
        _WHY | _PRE_POST | _TWO_QUESTIONS,
        200,
        **_SEQUENTIAL,
        **_PAIR_KEYS,
    ),
    **{
        kind: _task(kind, "llm", ("event1", "event2"), question_pair, _WHY | _TWO_QUESTIONS, 140, **_PAIR_KEYS)
        for kind in ("cause_effect", "means_to_an_end")
    },
}
"""By the kind of question."""
VERIFICATION = _task(
    "verification",
    "llm",
    ("question1", "answer1", "question2", "answer2"),
    verification,
    _WHY | {"case_1_score": SCORE, "case_2_score": SCORE},
    140,
    case_1_score="3",
    case_2_score="3",
)
OPTIONS = _task(
    "options",
    "llm",
    ("question", "answer"),
    options,
    _WHY | {"correct_answer": TEXT} | {f"wrong_answer_{number}": TEXT for number in (1, 2, 3)},
    120,
    **{f"wrong_answer_{number}": f"{WORDS} {number}" for number in (1, 2, 3)},
)
ANSWER_WITH_SPAN = _task(
    "answer_with_span",
    "video_lmm",
    ("question", "options", "duration", "frame_number"),
    answer_with_span,
    {"relevant_span": TIMES, "answer": {"enum": ["A", "B", "C", "D"]}},
    60,
    answer="A",
    span="0 1",
)
SCORING = _task(
    "score",
    "video_lmm",
    ("question", "continuation", "frame_number"),
    read_log_probability,
    {"mean_log_probability": {"type": "number"}},
    1,
    mean_log_probability="-1",
)
"""An option after the question, scored by an engine that gives log-probabilities (see `scoring`)."""
LOCATE = _task(
    "locate", "video_lmm", ("question", "duration", "frame_number"), parse_span, {"span": TEXT}, 20, span="0 1"
)


FREE_ANSWER = Task(
    "rextime/free_answer",
    "video_lmm",
    ("question", "duration", "frame_number"),
    parse_text,
    lambda _count: object_schema({"answer": TEXT}),
    60,
    lambda _count, _identity: Parsed(sections={"text": WORDS}),
    settings=("frame_side",),
    demo=_answer_of_demo_from_frames,
)
"""The question alone, without options (supplement, D.2)."""
GENERATION = (EVENT_PAIR, RELATED_EVENT, *QUESTIONS.values(), VERIFICATION, OPTIONS)
"""Tasks that write questions."""
TASKS = (*GENERATION, ANSWER_WITH_SPAN, SCORING, LOCATE, FREE_ANSWER)
