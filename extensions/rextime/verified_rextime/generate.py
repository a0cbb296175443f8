"""Questions from items: event pairs, questions in both directions, verification, wrong options (C.8.1 to C.8.7).

Each step sends the calls of all items of a shard at once, through the ledger; an item that fails at a step is dropped
there with its reason, so that items and questions always add up. The span of an answer is that of its event; if a model
saw the event in frames, its time is unknown, and people mark it before the question is part of a test.
"""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Mapping

from verified.captions.clips import Clips, uniform
from verified.lmm.client import Call
from verified.lmm.prompts import quote
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.runtime.seeds import derive_seed
from verified_rextime.config import Rextime, Routing
from verified_rextime.rows import LETTERS
from verified_rextime.tasks import EVENT_PAIR, OPTIONS, QUESTIONS, RELATED_EVENT, SCORES, VERIFICATION, span_of

Span = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two events of an item in the order of time, with their spans (s; None if unknown), and their kind."""

    item: dict
    kind: str
    events: tuple[str, str]
    spans: tuple[Span | None, Span | None]
    lineage: dict[str, str]
    side: str = ""
    """Side of the query that the other event is on, for pairs around a query."""

    @property
    def name(self) -> str:
        """Prefix of the ids of its questions: independent of other items."""
        return "/".join(word for word in (self.item["item"], self.kind, self.side) if word)

    def captions(self) -> list[dict]:
        """Captions that the listing for sequences is shown: the item's own, or the two events in their order."""
        if self.item["form"] == "captions":
            return self.item["events"]
        position, (start, end) = next((number, span) for number, span in enumerate(self.spans) if span is not None)
        spans = [(0.0, start), (end, self.item["duration"])]
        spans[position] = (start, end)
        return [
            {"start": span[0], "end": span[1], "caption": event}
            for event, span in zip(self.events, (spans[0], spans[1]))
        ]


def spans_problem(spans: tuple[Span, Span], duration: float) -> str | None:
    """`span-outside` the video (`duration` in seconds), `span-without-length`, `same-span`, `not-in-order`."""
    if any(start < 0 or end > duration + 1 for start, end in spans):
        return "span-outside"
    if any(end <= start for start, end in spans):
        return "span-without-length"
    if spans[0] == spans[1]:
        return "same-span"
    return "not-in-order" if spans[0][0] > spans[1][0] else None


def route(scores: dict[str, int], rules: Routing) -> str:
    """Kind of a pair with these scores (0 to 3), or the reason `similar` for which it is dropped."""
    if scores["similarity"] >= rules.similar_from:
        return "similar"
    if min(scores["directness"], scores["necessity"]) < rules.causal_from:
        return "sequential"
    purposeful = max(scores["intentionality"], scores["purpose"]) >= rules.purposeful_from
    return "means_to_an_end" if purposeful else "cause_effect"


def pair_of(item: dict, sections: dict[str, str], key: str, rules: Routing) -> Pair | str:
    """The pair that a model chose from captions, or why it is dropped."""
    spans = span_of(sections["event1_span"]), span_of(sections["event2_span"])
    problem = spans_problem(spans, item["duration"])
    if problem is not None:
        return f"event-pair-{problem}"
    kind = route({name: int(sections[name]) for name in SCORES}, rules)
    if kind == "similar":
        return "event-pair-similar"
    return Pair(item, kind, (sections["event1"], sections["event2"]), spans, {"event_pair": key})


def accepted_sides(item: dict, sections: dict[str, str], key: str, settings: Rextime) -> list[Pair] | str:
    """The pairs around a query whose other event is relevant and well aligned, or the reason for their absence."""
    if "none" in sections:
        return "related-event-none"
    window = tuple(item["window"])
    pairs = []
    for side in ("cause", "effect"):
        aligned = sections[f"{side}_alignment"] in settings.routing.alignments
        if sections[f"{side}_relevant"] != "yes" or not aligned:
            continue
        events = (sections[side], item["query"]) if side == "cause" else (item["query"], sections[side])
        spans = (None, window) if side == "cause" else (window, None)
        pairs.append(Pair(item, settings.routing.query_kind, events, spans, {"related_event": key}, side))
    if pairs:
        return pairs
    relevant = [side for side in ("cause", "effect") if sections[f"{side}_relevant"] == "yes"]
    return "related-event-not-aligned" if relevant else "related-event-not-relevant"


DIRECTIONS = {
    "sequential": ("forward", "backward"),
    "cause_effect": ("forward", "backward"),
    "means_to_an_end": ("backward", "forward"),
}
"""Directions of the questions Type1 and Type2 of each kind: forward if the answer comes after the event that the
question names.
"""


def write_questions(
    items: list[dict], videos: Mapping[str, dict], session: Session, settings: Rextime
) -> tuple[list[dict], list[dict], list[dict]]:
    """(questions, questions whose answer has no time yet, fates) of the items of one shard.

    `items` are rows of `filters.filter_captions` and `filter_queries` with a ``split``; `videos` give path, digest and
    size by id, for items with frames. A question has the released keys, then ``options, answer, kind, direction,
    question_windows, source, split, item, verification, lineage``; the second list has no ``relevant_windows``, and no
    question of the split train. A fate is ``item`` and ``reason`` (``kept`` for accepted ones, ``kept-to-mark`` in the
    second list) with the ``question``'s id, if there was one, and its text, if it was dropped.
    """
    fates: list[dict] = []
    pairs = _pairs(items, videos, session, settings, fates)
    drafts = _drafts(pairs, session, settings, fates)
    drafts = _verify_drafts(drafts, session, settings, fates)
    rows = _add_options(drafts, session, fates)
    timed, untimed = ([row for row in rows if bool(row["relevant_windows"]) is has] for has in (True, False))
    return timed, untimed, fates


def _fate(fates: list[dict], item: str, reason: str, **question: object) -> None:
    fates.append({"item": item, "reason": reason, **question})


def _failure_reason(outcome: Outcome) -> str | None:
    """Why an outcome cannot be used; None if it can."""
    if outcome.status == "ok" and outcome.parsed.sections and not outcome.parsed.missing:
        return None
    return f"{outcome.status}-{outcome.reason}" if outcome.reason else outcome.status


def caption_lines(events: list[dict]) -> str:
    """The captions of a video with their times, one a line, as prompts show them."""
    return "\n".join(f"[{event['start']:g}, {event['end']:g}] {quote(event['caption'])}" for event in events)


def option_lines(options: Iterable[str]) -> str:
    """The options of a question, one a line behind its letter, as prompts show them."""
    return "\n".join(f"{letter}. {quote(text)}" for letter, text in zip(LETTERS, options))


def _pairs(
    items: list[dict], videos: Mapping[str, dict], session: Session, settings: Rextime, fates: list[dict]
) -> list[Pair]:
    captioned = [item for item in items if item["form"] == "captions"]
    calls = (session.call(EVENT_PAIR, {"captions": caption_lines(item["events"])}) for item in captioned)
    pairs = []
    for item, outcome in zip(captioned, session.ask(EVENT_PAIR, calls, len(captioned))):
        if (problem := _failure_reason(outcome)) is not None:
            _fate(fates, item["item"], f"event-pair-{problem}")
            continue
        pair = pair_of(item, outcome.parsed.sections, outcome.key, settings.routing)
        _fate(fates, item["item"], pair) if isinstance(pair, str) else pairs.append(pair)
    queried = []
    for item in items:
        if item["form"] == "queries":
            queried.append(item) if item["video"] in videos else _fate(fates, item["item"], "video-not-usable")
    queried.sort(key=lambda item: item["video"])
    for item, outcome in zip(queried, _ask_related(queried, videos, session, settings)):
        if (problem := _failure_reason(outcome)) is not None:
            _fate(fates, item["item"], f"related-event-{problem}")
            continue
        sides = accepted_sides(item, outcome.parsed.sections, outcome.key, settings)
        _fate(fates, item["item"], sides) if isinstance(sides, str) else pairs.extend(sides)
    return pairs


def _ask_related(items: list[dict], videos: Mapping[str, dict], session: Session, settings: Rextime) -> list[Outcome]:
    slots = [{"query": item["query"], "frame_number": str(settings.frames)} for item in items]
    calls = whole_video_calls(RELATED_EVENT, items, slots, videos, session, settings.frames)
    return session.ask(RELATED_EVENT, calls, len(items))


def whole_video_calls(
    task: Task, items: list[dict], slots: list[dict], videos: Mapping[str, dict], session: Session, frames: int
) -> list[Call]:
    """Calls that show `frames` uniform frames of each item's whole video; items of one video should be adjacent."""
    side, form = session.settings.frame_side, session.settings.video_lmm.video_input
    spans = [{"video": item["video"], "start": 0.0, "end": videos[item["video"]]["duration"]} for item in items]
    return Clips(spans, videos, uniform(frames), side).calls(
        form,
        session.has_answer,
        lambda position, digest, load: session.call(task, slots[position], media=(digest,), load=load),
    )


def _drafts(pairs: list[Pair], session: Session, settings: Rextime, fates: list[dict]) -> list[dict]:
    drafts = []
    for kind in DIRECTIONS:
        of_kind = [pair for pair in pairs if pair.kind == kind]
        calls = (session.call(QUESTIONS[kind], _question_slots(pair)) for pair in of_kind)
        for pair, outcome in zip(of_kind, session.ask(QUESTIONS[kind], calls, len(of_kind))):
            if (problem := _failure_reason(outcome)) is not None:
                _fate(fates, pair.item["item"], f"questions-{problem}")
                continue
            sections = outcome.parsed.sections
            spans = pair.spans
            if pair.item["form"] == "captions" and kind == "sequential":  # this listing chooses its events itself
                spans = span_of(sections["pre_event_span"]), span_of(sections["post_event_span"])
                if (reason := spans_problem(spans, pair.item["duration"])) is not None:
                    _fate(fates, pair.item["item"], f"questions-{reason}")
                    continue
            drafts.append(_draft(pair, spans, sections, outcome, settings))
    return drafts


def _question_slots(pair: Pair) -> dict[str, str]:
    if pair.kind == "sequential":
        return {"captions": caption_lines(pair.captions())}
    return {"event1": pair.events[0], "event2": pair.events[1]}


def _draft(pair: Pair, spans: tuple, sections: dict, outcome: Outcome, settings: Rextime) -> dict:
    """Both questions of a pair, with the spans of the named events and of their answers (None if unknown)."""
    questions = []
    for number, direction in enumerate(DIRECTIONS[pair.kind], start=1):
        named, answer = spans if direction == "forward" else spans[::-1]
        questions.append(
            {
                "query": sections[f"question{number}"],
                "answer": sections[f"answer{number}"],
                "direction": direction,
                "question_span": named,
                "answer_span": answer,
                "corrupted": [n for n in outcome.notes.get("corrupted", []) if n.get("question") == number],
            }
        )
    return {"pair": pair, "questions": questions, "lineage": {**pair.lineage, "questions": outcome.key}}


def _verify_drafts(drafts: list[dict], session: Session, settings: Rextime, fates: list[dict]) -> list[dict]:
    """Questions with their scores; dropped are those below the threshold, and those of train without a span of their
    answer."""
    calls = []
    for draft in drafts:
        slots = {
            f"{slot}{number}": text
            for number, question in enumerate(draft["questions"], start=1)
            for slot, text in (("question", question["query"]), ("answer", question["answer"]))
        }
        calls.append(session.call(VERIFICATION, slots))
    accepted = []
    for draft, outcome in zip(drafts, session.ask(VERIFICATION, calls, len(calls))):
        problem = _failure_reason(outcome)
        for number, question in enumerate(draft["questions"], start=1):
            row = _row(draft, question, outcome.key)
            if problem is None:
                row["verification"] = int(outcome.parsed.sections[f"case_{number}_score"])
            reason = _verdict(row, problem, settings.verification_threshold)
            if reason is None:
                accepted.append(row)
            else:
                _fate(fates, row["item"], reason, question=row["qid"], **{name: row[name] for name in _JUDGED})
    return accepted


_JUDGED = ("query", "answer", "kind", "direction", "vid", "relevant_windows")
"""Fields recorded of a dropped question, for inspection."""


def _verdict(row: dict, problem: str | None, threshold: int) -> str | None:
    """Why a question is dropped at its verification; None if it is accepted."""
    if problem is not None:
        return f"verification-{problem}"
    if row["verification"] < threshold:
        return f"verification-score-{row['verification']}"
    return None if row["relevant_windows"] or row["split"] != "train" else "answer-without-span"


def _row(draft: dict, question: dict, verification: str) -> dict:
    pair = draft["pair"]
    item = pair.item
    return {
        "qid": f"{pair.name}/{question['direction']}",
        "query": question["query"],
        "duration": item["duration"],
        "vid": item["video"],
        "relevant_windows": [list(question["answer_span"])] if question["answer_span"] else [],
        "answer": question["answer"],
        "kind": pair.kind,
        "direction": question["direction"],
        "question_windows": [list(question["question_span"])] if question["question_span"] else [],
        "source": item["source"],
        "split": item["split"],
        "item": item["item"],
        "verification": None,
        "lineage": {**draft["lineage"], "verification": verification},
        "corrupted": question["corrupted"],
    }


def _add_options(rows: list[dict], session: Session, fates: list[dict]) -> list[dict]:
    """Questions of every split but train get three wrong answers, shuffled to A-D by the seed and the question's id."""
    tested = [row for row in rows if row["split"] != "train"]
    calls = (session.call(OPTIONS, {"question": row["query"], "answer": row["answer"]}) for row in tested)
    outcomes = dict(zip((row["qid"] for row in tested), session.ask(OPTIONS, calls, len(tested))))
    accepted = []
    for row in rows:
        outcome = outcomes.get(row["qid"])
        if outcome is not None and (problem := _failure_reason(outcome)) is not None:
            _fate(
                fates, row["item"], f"options-{problem}", question=row["qid"], **{name: row[name] for name in _JUDGED}
            )
            continue
        letters: dict = {"ans": None, "options": []}
        if outcome is not None:
            wrong = [outcome.parsed.sections[f"wrong_answer_{number}"] for number in (1, 2, 3)]
            letters = shuffle_options(row["answer"], wrong, session.seed, row["qid"])
            row["lineage"]["options"] = outcome.key
            row["corrupted"] = [*row["corrupted"], *outcome.notes.get("corrupted", [])]
        _fate(fates, row["item"], "kept" if row["relevant_windows"] else "kept-to-mark", question=row["qid"])
        accepted.append({**{key: row[key] for key in _FIRST}, **letters, **{k: row[k] for k in row if k not in _FIRST}})
    return accepted


_FIRST = ("qid", "query", "duration", "vid", "relevant_windows")


def shuffle_options(answer: str, wrong: list[str], seed: int, qid: str) -> dict:
    """`options` in the order A to D and the letter of the right one under `ans`; a function of seed and id alone."""
    order = list(range(len(LETTERS)))
    random.Random(derive_seed(seed, "rextime options", qid)).shuffle(order)
    texts = [answer, *wrong]
    return {"ans": LETTERS[order.index(0)], "options": [texts[origin] for origin in order]}


def shard_counts(
    items: list[dict], questions: list[dict], to_mark: list[dict], fates: list[dict], calls: dict[str, dict]
) -> dict:
    """Counts of a shard: items by whether they gave a question, questions by fate, calls by outcome."""
    with_question = {row["item"] for row in (*questions, *to_mark)}
    return {
        "items": {"given": len(items), "with_question": len(with_question)},
        "fates": dict(sorted(Counter(fate["reason"] for fate in fates).items())),
        "questions": dict(sorted(Counter(row["kind"] for row in questions).items())),
        "to_mark": dict(sorted(Counter(row["kind"] for row in to_mark).items())),
        "calls": calls,
    }
