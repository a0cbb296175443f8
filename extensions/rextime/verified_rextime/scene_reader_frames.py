"""Questions across time from the frames of a whole video: which events follow one another, and which one answers."""

import json
import random
import re

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.events import SHORTEST, Seen, likeness, watch_request
from verified.demo.scene_reader.wording import as_sentence, sentence
from verified.lmm.request import Reply, Request
from verified_rextime.scene_reader import FORMS, clause, event_facts, relation

UNSEEN = "Nothing can be seen."


def reply(request: Request, rng: random.Random) -> Reply:
    """The answer to a task that shows the frames of a whole video."""
    task = request.task.removeprefix("rextime/")
    if task == "score":
        return Reply("", "error", "unknown-task", "the demo's engine has no log-probabilities")
    if request.frames is None or len(request.frames) < 2:
        return Reply("", "error", "media", "needs the frames of a video")
    events = watch_request(request)
    if task == "related_event":
        return _related(events, request, rng)
    answer = find_answer(events, request.slots["question"])
    end = float(request.slots["duration"])
    start, end = (answer.start, answer.end) if answer else (0.0, end)
    if task == "free_answer":
        return Reply(as_sentence(sentence(_named(answer.facts), rng, plain=True)) if answer else UNSEEN)
    if task == "locate":
        return Reply(f"From {start:.1f} to {end:.1f}.")
    letter = best_option(answer, request.slots["options"], rng)
    return Reply(json.dumps({"relevant_span": [round(start, 1), round(end, 1)], "answer": letter}))


def find_answer(events: list[Seen], question: str) -> Seen | None:
    """The event that answers a question: the one after or before the event that fits its words best; None if no event
    was seen.
    """
    if not events:
        return None
    place = max(range(len(events)), key=lambda index: likeness(event_facts(question), events[index]))
    other = place + 1 if asks_forward(question) else place - 1
    return events[min(max(other, 0), len(events) - 1)]


def asks_forward(question: str) -> bool:
    """Whether the answer comes after the event that the question names."""
    text = clause(question)
    for forms in FORMS.values():
        for form, answer in forms:
            if text.startswith(clause(form.split("{")[0])):
                return "{1}" in answer
    return not re.search(r"\b(?:before|why|how)\b", text)


def best_option(answer: Seen | None, options: str, rng: random.Random) -> str:
    """The letter of the option that fits the event best; any of equals."""
    choices = re.findall(r"(?m)^([A-D])\W+(.+)$", options)
    if answer is None or not choices:
        return rng.choice("ABCD")
    fits = [(likeness(event_facts(text.strip('" ')), answer), letter) for letter, text in choices]
    best = max(fit for fit, _ in fits)
    return rng.choice([letter for fit, letter in fits if fit == best])


def _related(events: list[Seen], request: Request, rng: random.Random) -> Reply:
    """Cause and effect of the event that the query names, by the convention of the synthetic scenes."""
    stated = caption_facts(clause(request.slots["query"]))
    if not events or not {"shape", "motion"} <= stated.keys():
        return Reply("none")
    place = max(range(len(events)), key=lambda index: likeness(stated, events[index]))
    pivot = events[place]
    value = {"explain": f"The pivotal event is seen from {pivot.start:.1f} s to {pivot.end:.1f} s."}
    for side, other in (("cause", place - 1), ("effect", place + 1)):
        there = 0 <= other < len(events)
        pair = (events[other], pivot) if side == "cause" else (pivot, events[other] if there else pivot)
        linked = there and relation(pair[0].facts, pair[1].facts, pair[1].start - pair[0].end) != "sequential"
        text = sentence(_named(events[other].facts), rng, plain=True) if there else "none"
        sure = there and events[other].end - events[other].start >= 1.5 * SHORTEST
        value[side] = text
        value[f"{side}-relevant"] = "yes" if linked else "no"
        value[f"{side}-alignment"] = "high" if sure else "medium" if there else "low"
    return Reply(json.dumps(value, indent=1))


def _named(facts: dict) -> dict:
    return {name: facts[name] for name in ("shape", "colour", "count", "motion") if name in facts}
