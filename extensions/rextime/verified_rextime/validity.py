"""The demo's questions against its truth: is the answer true, is its window right, are the wrong options false?

A question is true if one of two successive events of the video fits the question and the other the answer, in the order
and with the relation that the kind of the question claims. Read by tests and the validity table only.
"""

import itertools
from collections.abc import Iterable, Mapping

from verified.demo.caption_facts import agreement, caption_facts
from verified_rextime.metrics import best_iou
from verified_rextime.rows import LETTERS
from verified_rextime.scene_reader import relation

WINDOW_IOU = 0.5
CLAIMED = {
    "sequential": ("sequential", "cause_effect", "means_to_an_end"),
    "cause_effect": ("cause_effect", "means_to_an_end"),
    "means_to_an_end": ("means_to_an_end",),
}
"""Relations of the truth that support what a kind claims: a means is also a cause, and both follow in time."""


def true_answers(question: Mapping, answer: str, events: list[dict]) -> list[dict]:
    """The events of corpus/truth.jsonl (those of one video) that support `answer` as an answer to the question."""
    events = sorted(events, key=lambda event: event["start"])
    question_facts, answer_facts = caption_facts(question["query"]), caption_facts(answer)
    answers = []
    for first, second in itertools.pairwise(events):
        named, answering = (first, second) if question["direction"] == "forward" else (second, first)
        claim = relation(first["facts"], second["facts"], second["start"] - first["end"])
        if claim in CLAIMED[question["kind"]] and _fits(question_facts, named) and _fits(answer_facts, answering):
            answers.append(answering)
    return answers


def _fits(stated: dict, event: dict) -> bool:
    return {"shape", "motion"} <= stated.keys() and all(agreement(stated, event["facts"]).values())


def judge(questions: Iterable[Mapping], dropped: Iterable[Mapping], truth: Mapping[str, list[dict]]) -> list[dict]:
    """One row per written question: `qid, video, kept, true, window` (None if dropped or untrue), `options_false`.

    `dropped` are fates with a question's text, `truth` the events by video. `options_false` lists for each wrong option
    whether it is false.
    """
    rows = []
    for question in questions:
        events = truth[question["vid"]]
        bearing = true_answers(question, question["answer"], events)
        window = question["relevant_windows"][0]
        right = max((best_iou(window, [(event["start"], event["end"])]) for event in bearing), default=0.0)
        wrong = [text for letter, text in zip(LETTERS, question["options"]) if letter != question["ans"]]
        rows.append(
            {
                "qid": question["qid"],
                "video": question["vid"],
                "kind": question["kind"],
                "kept": True,
                "true": bool(bearing),
                "window": right >= WINDOW_IOU if bearing else None,
                "options_false": [not true_answers(question, text, events) for text in wrong],
            }
        )
    for fate in dropped:
        bearing = true_answers(fate, fate["answer"], truth[fate["vid"]])
        rows.append(
            {"qid": fate["question"], "video": fate["vid"], "kind": fate["kind"], "kept": False}
            | {"true": bool(bearing), "window": None, "options_false": [], "reason": fate["reason"]}
        )
    return rows
