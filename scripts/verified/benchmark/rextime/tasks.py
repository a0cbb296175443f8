"""The tasks of the ReXTime suite (supplement C.8.1 to C.8.7, and how models are asked), registered when imported."""

from verified.benchmark.rextime import replies
from verified.lmm.outcome import Parsed
from verified.lmm.task_registry import Task, register

SCORING = "rextime/score"
"""An option after the question, scored by an engine that gives log-probabilities (lmm/engines/scoring.py)."""

KINDS = ("sequential", "cause_effect", "means_to_an_end")
"""The three kinds of questions."""
WORDS = "a few words that say what happens"
TEXT = {"type": "string", "minLength": 1}
SCORE = {"type": "integer", "minimum": 0, "maximum": 3}
TIMES = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


def _object(**properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _schema(properties: dict):
    def schema(_count: int) -> dict:
        return _object(**properties)

    return schema


_WHY = {"explanation": TEXT}
"""The listings ask for a short explanation before the JSON; constrained answers hold it inside."""
_QUESTION = _object(Question=TEXT, Answer=TEXT)
_TWO_QUESTIONS = {"Type1": _QUESTION, "Type2": _QUESTION}
_QUESTIONS = _WHY | _TWO_QUESTIONS
_EVENTS = {f"event{number}{suffix}": kind for number in (1, 2) for suffix, kind in (("", TEXT), ("_timestamp", TIMES))}
_PRE_POST = {
    f"{name}-event{suffix}": kind for name in ("pre", "post") for suffix, kind in (("", TEXT), ("_timestamp", TIMES))
}
_SIDES = {
    f"{side}{suffix}": kind
    for side in ("cause", "effect")
    for suffix, kind in (
        ("", TEXT),
        ("-relevant", {"enum": list(replies.RELEVANT)}),
        ("-alignment", {"enum": list(replies.ALIGNED)}),
    )
}
_ASKED = {f"{suffix}{number}": WORDS for number in (1, 2) for suffix in ("question", "answer")}
_SEQUENTIAL = {"pre_event": WORDS, "pre_event_span": "0 1", "post_event": WORDS, "post_event_span": "1 2"}
_PAIR = {
    "event1": WORDS,
    "event1_span": "0 1",
    "event2": WORDS,
    "event2_span": "1 2",
    **dict.fromkeys(replies.SCORES, "2"),
    "similarity": "0",
}

register(
    {
        "rextime/event_pair": Task(
            ("captions",),
            "llm",
            replies.event_pair,
            _schema(_WHY | _EVENTS | {name.capitalize(): SCORE for name in replies.SCORES}),
            260,
            Parsed(sections=_PAIR),
        ),
        "rextime/related_event": Task(
            ("query", "frame_number"),
            "video_lmm",
            replies.related_event,
            _schema({"explain": TEXT} | _SIDES),
            140,
            Parsed(
                sections={
                    f"{side}{suffix}": value
                    for side in ("cause", "effect")
                    for suffix, value in (("", WORDS), ("_relevant", "yes"), ("_alignment", "high"))
                }
            ),
        ),
        "rextime/sequential": Task(
            ("captions",),
            "llm",
            replies.sequential_pair,
            _schema(_WHY | _PRE_POST | _TWO_QUESTIONS),
            200,
            Parsed(sections=_SEQUENTIAL | _ASKED),
        ),
        "rextime/cause_effect": Task(
            ("event1", "event2"), "llm", replies.question_pair, _schema(_QUESTIONS), 140, Parsed(sections=_ASKED)
        ),
        "rextime/means_to_an_end": Task(
            ("event1", "event2"), "llm", replies.question_pair, _schema(_QUESTIONS), 140, Parsed(sections=_ASKED)
        ),
        "rextime/verification": Task(
            ("question1", "answer1", "question2", "answer2"),
            "llm",
            replies.verification,
            _schema(_WHY | {"case_1_score": SCORE, "case_2_score": SCORE}),
            140,
            Parsed(sections={"case_1_score": "3", "case_2_score": "3"}),
        ),
        "rextime/options": Task(
            ("question", "answer"),
            "llm",
            replies.options,
            _schema(_WHY | {"correct_answer": TEXT} | {f"wrong_answer_{number}": TEXT for number in (1, 2, 3)}),
            120,
            Parsed(sections={f"wrong_answer_{number}": f"{WORDS} {number}" for number in (1, 2, 3)}),
        ),
        "rextime/answer_with_span": Task(
            ("question", "options", "duration", "frame_number"),
            "video_lmm",
            replies.answer_with_span,
            _schema({"relevant_span": TIMES, "answer": {"enum": ["A", "B", "C", "D"]}}),
            60,
            Parsed(sections={"answer": "A", "span": "0 1"}),
        ),
        SCORING: Task(
            ("question", "continuation", "frame_number"),
            "video_lmm",
            replies.scored,
            _schema({"mean_log_probability": {"type": "number"}}),
            1,
            Parsed(sections={"mean_log_probability": "-1"}),
        ),
        "rextime/locate": Task(
            ("question", "duration", "frame_number"),
            "video_lmm",
            replies.located,
            _schema({"span": TEXT}),
            20,
            Parsed(sections={"span": "0 1"}),
        ),
    }
)

GENERATION = (
    "rextime/event_pair",
    "rextime/related_event",
    *(f"rextime/{kind}" for kind in KINDS),
    "rextime/verification",
    "rextime/options",
)
"""Tasks that write questions."""
