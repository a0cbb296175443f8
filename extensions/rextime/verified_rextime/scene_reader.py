"""Questions across time about synthetic scenes (supplement of ReXTime, C.8.1 to C.8.7): text tasks from their slots
alone.

Events are drawn independently; causes are a convention, so that questions about causes have a ground truth. A touch, a
bounce or a vanishing sets off the event that begins within a second of its end (cause and effect), and a straight
motion is the means by which the touch or the growth that follows as soon is reached (means to an end). Any other two
events are a sequence.

A configured share of questions is corrupted: the answer repeats the event of the question (which verification notices),
or states something false of its event (which it cannot notice); a configured share of option sets includes the right
answer in other words.
"""

import itertools
import json
import random
import re
from typing import Any

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.corruption import false_fact, stated
from verified.demo.scene_reader.wording import as_sentence, sentence
from verified.lmm.request import Reply, Request
from verified.runtime.seeds import derive_seed

SOON = 1.0
"""Maximal seconds between the end of a cause and the start of its effect."""
CAUSES = ("meets", "bounces", "vanishes")
MEANS = {"moves": ("meets", "grows")}
CAPTION_LINE = re.compile(r'^\[([\d.]+), ([\d.]+)\] (".*")$', re.M)
RANK = ("means_to_an_end", "cause_effect", "sequential")
"""The strongest relation that a video offers is chosen."""
SCORES = {"means_to_an_end": (3, 2, 2, 3), "cause_effect": (3, 2, 0, 1), "sequential": (1, 0, 0, 0)}
"""Directness, necessity, intentionality, purpose."""
FORMS = {
    "sequential": (("What happens after {0}?", "{1}."), ("What happens before {1}?", "{0}.")),
    "cause_effect": (("What does it lead to when {0}?", "{1}."), ("Why is it that {1}?", "Because {0}.")),
    "means_to_an_end": (("How is it achieved that {1}?", "First {0}."), ("What is it for when {0}?", "So that {1}.")),
}
"""Question and answer of Type1 and Type2; {0} is the earlier event."""
OPENINGS = ("because", "first", "so that")
CIRCULAR_SHARE = 0.5


def relation(first: dict[str, Any], second: dict[str, Any], gap: float) -> str:
    """``cause_effect``, ``means_to_an_end`` or ``sequential``, for two successive events `gap` seconds apart."""
    motion, following = first.get("motion"), second.get("motion")
    if gap > SOON or not following or following == "stays":
        return "sequential"
    if motion in CAUSES:
        return "cause_effect"
    return "means_to_an_end" if motion in MEANS and following in MEANS[motion] else "sequential"


def reply(request: Request, rng: random.Random, corrupted_share: float) -> Reply:
    """The answer to a task without frames."""
    task = request.task.removeprefix("rextime/")
    match task:
        case "event_pair":
            return _event_pair(request, rng)
        case "sequential":
            return _sequential(request, rng, corrupted_share)
        case "cause_effect" | "means_to_an_end":
            events = [clause(request.slots[name]) for name in ("event1", "event2")]
            questions, notes = _questions(task, events, request.seed, corrupted_share)
            return _json("Both events follow each other.", questions, notes)
        case "verification":
            return _verification(request)
        case "options":
            return _options(request, rng, corrupted_share)
    return Reply("", "error", "unknown-task", f"no task {request.task!r}")


def _json(explanation: str, value: dict, notes: list | None = None) -> Reply:
    text = f"{explanation}\n```json\n{json.dumps(value, indent=1)}\n```"
    return Reply(text, notes={"corrupted": notes} if notes is not None else {})


def clause(text: str) -> str:
    """A caption as a clause: without full stop, and without a capital letter at its start."""
    text = text.strip().rstrip(".")
    return text[:1].lower() + text[1:]


def neighbours(captions: str) -> list[tuple[dict, dict, str]]:
    """Successive events of the captions in a slot, each {start, end, text, facts}, with their relation."""
    events = [
        {"start": float(start), "end": float(end), "text": clause(json.loads(text))}
        for start, end, text in CAPTION_LINE.findall(captions)
    ]
    for event in events:
        event["facts"] = caption_facts(event["text"])
    events.sort(key=lambda event: (event["start"], event["end"]))
    pairs = [
        (first, second)
        for first, second in itertools.pairwise(events)
        if (first["start"], first["end"]) != (second["start"], second["end"])
    ]
    return [
        (first, second, relation(first["facts"], second["facts"], second["start"] - first["end"]))
        for first, second in pairs
    ]


def _event_pair(request: Request, rng: random.Random) -> Reply:
    pairs = neighbours(request.slots["captions"])
    if not pairs:
        return Reply("", "error", "no-pair", "fewer than two captions at different times")
    best = min(RANK.index(kind) for _, _, kind in pairs)
    first, second, kind = rng.choice([pair for pair in pairs if RANK.index(pair[2]) == best])
    directness, necessity, intentionality, purpose = SCORES[kind]
    same = {name: first["facts"].get(name) for name in ("shape", "motion")} == {
        name: second["facts"].get(name) for name in ("shape", "motion")
    }
    value = {
        "event1": first["text"],
        "event1_timestamp": [first["start"], first["end"]],
        "event2": second["text"],
        "event2_timestamp": [second["start"], second["end"]],
        "Directness": directness,
        "Necessity": necessity,
        "Intentionality": intentionality,
        "Purpose": purpose,
        "Similarity": 3 if same else 0,
    }
    return _json(f"The second event begins {second['start'] - first['end']:.1f} s after the end of the first.", value)


def _sequential(request: Request, rng: random.Random, share: float) -> Reply:
    pairs = neighbours(request.slots["captions"])
    if not pairs:
        return Reply("", "error", "no-pair", "fewer than two captions at different times")
    first, second, _ = rng.choice(pairs)
    questions, notes = _questions("sequential", [first["text"], second["text"]], request.seed, share)
    value = {
        "pre-event": first["text"],
        "pre-event_timestamp": [first["start"], first["end"]],
        "post-event": second["text"],
        "post-event_timestamp": [second["start"], second["end"]],
    }
    return _json("These two follow each other directly.", value | questions, notes)


def _questions(kind: str, events: list[str], seed: int, share: float) -> tuple[dict, list[dict]]:
    """Type1 and Type2, and notes on the corruption of each (1 or 2)."""
    written, notes = {}, []
    for number, (question, answer) in enumerate(FORMS[kind], start=1):
        rng = random.Random(derive_seed(seed, "spoiled question", number))
        chosen = list(events)
        place = 1 if "{1}" in answer else 0
        if rng.random() < share:
            chosen[place], note = _corrupted(events, place, rng)
            notes.append({"question": number, **note})
        text = answer.format(*chosen)
        written[f"Type{number}"] = {"Question": question.format(*events), "Answer": text[0].upper() + text[1:]}
    return written, notes


def _corrupted(events: list[str], place: int, rng: random.Random) -> tuple[str, dict]:
    """A replacement of the answer's event, and a note on its error."""
    facts = caption_facts(events[place])
    names = [*stated(facts, "static"), *stated(facts, "dynamic")] if {"shape", "motion"} <= facts.keys() else []
    if not names or rng.random() < CIRCULAR_SHARE:
        return events[1 - place], {"kind": "circular"}
    name = rng.choice(names)
    false, values = false_fact(facts, name, rng)
    return sentence(false, rng, plain=True), {"kind": "false", "changed": {name: values}}


def event_facts(text: str) -> dict:
    """Facts of the event that a question or an answer names."""
    text = clause(text).rstrip("?").strip()
    text = re.sub(rf"^(?:{'|'.join(OPENINGS)})\s+", "", text)
    for questions in FORMS.values():
        for question, _ in questions:
            start = clause(question.split("{")[0])
            if text.startswith(start):
                return caption_facts(text.removeprefix(start))
    return caption_facts(text)


def _verification(request: Request) -> Reply:
    scores = {}
    for number in (1, 2):
        question, answer = (event_facts(request.slots[f"{part}{number}"]) for part in ("question", "answer"))
        whole = {"shape", "motion"} <= answer.keys()
        scores[f"case_{number}_score"] = (0 if question == answer else 3) if whole else 1
    return _json("An answer that names what the question names answers nothing.", scores)


def _options(request: Request, rng: random.Random, share: float) -> Reply:
    """Three events that differ from the answer's in motion or actor."""
    answer = request.slots["answer"]
    opening = next((word for word in OPENINGS if answer.lower().startswith(f"{word} ")), "")
    facts = event_facts(answer)
    if not {"shape", "motion"} <= facts.keys():
        return Reply("", "error", "unknown-caption", "the answer names no object and motion of the demo world")
    wrong: list[str] = []
    notes: list[dict] = []
    corrupted = random.Random(derive_seed(request.seed, "spoiled options"))
    if corrupted.random() < share * CIRCULAR_SHARE:
        text = _reworded(facts, opening, corrupted, answer)
        if text:
            wrong.append(text)
            notes.append({"option": 1, "kind": "true"})
    for name in ("motion", "shape", "motion", "shape", "motion", "motion", "shape", "shape"):
        false, _ = false_fact(facts, name, rng)
        text = _opened(sentence(false, rng, plain=True), opening)
        if len(wrong) < 3 and text not in wrong:
            wrong.append(text)
    value = {"correct_answer": answer} | {f"wrong_answer_{n}": text for n, text in enumerate(wrong, start=1)}
    return _json("Another object, or another motion of the same one.", value, notes)


def _reworded(facts: dict, opening: str, rng: random.Random, answer: str) -> str | None:
    options = (_opened(sentence(facts, rng), opening) for _ in range(20))
    return next((text for text in options if text.lower() != answer.lower()), None)


def _opened(text: str, opening: str) -> str:
    return as_sentence(f"{opening} {text}".strip())
