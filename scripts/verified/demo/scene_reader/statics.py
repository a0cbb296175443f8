"""Statics: notes on one keyframe (supplement, listing 2), and captions from several keyframes (listing 3)."""

import json
import random
import re
from collections import Counter

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.corruption import write_candidates
from verified.demo.scene_reader.scene import Thing, decode_picture, look, subject_of
from verified.demo.scene_reader.wording import PLACES, as_sentence, noun_phrase, sentence
from verified.demo.shapes import NAMES, article, plural
from verified.lmm.request import Reply, Request

SEEN = ("colour", "size", "texture", "count")
LABELS = re.compile(r"(?i)^\s*(background|objects attributes|description)\s*:\s*(.*)$")


def describe_keyframe(request: Request, rng: random.Random) -> Reply:
    """Background, objects and a sentence for the one image of the request, in the printed format.

    The caption names the subject; its words win over a doubtful reading of the picture, as with any model so prompted.
    """
    picture = decode_picture(request.images[0]) if len(request.images) == 1 else None
    if picture is None:
        return Reply("", "error", "media", "needs one JPEG or PNG image that can be decoded")
    stated = caption_facts(request.slots["caption"])
    setting, things = look(picture)
    subject = subject_of(things, stated)
    others = [thing for thing in things if thing is not subject]
    parts = [_subject_note(subject, stated, rng), *(_other_note(thing, rng) for thing in others)]
    background = rng.choice(("", "The background is ", "There is ")) + NAMES[setting]
    return Reply(
        f"Background: {as_sentence(background)}\n\n"
        f"Objects Attributes: {' '.join(as_sentence(part) for part in parts)}\n\n"
        f"Desc: {_description(setting, subject, stated, rng)}"
    )


def seen_facts(thing: Thing, stated: dict) -> dict:
    """Facts of an object in a picture; the caption's facts take precedence. An object that grows or shrinks has no
    size.
    """
    facts = {"shape": thing.shape} | {name: getattr(thing, name) for name in SEEN}
    if "shape" in stated and "count" not in stated:
        facts["count"] = max(2, thing.count)  # the caption has a plural
    if stated.get("motion") in ("grows", "shrinks"):
        del facts["size"]
    return facts | {name: stated[name] for name in ("shape", *SEEN) if name in stated}


def _subject_note(subject: Thing | None, stated: dict, rng: random.Random) -> str:
    if subject is None:
        return f"no {stated['shape']} is in view" if "shape" in stated else "no object is in view"
    facts = seen_facts(subject, stated)
    if facts["count"] > 1:
        return f"{noun_phrase(facts, rng)} {rng.choice(('together', 'close to each other', 'of the same kind'))}"
    return noun_phrase(facts, rng)


def _other_note(thing: Thing, rng: random.Random) -> str:
    name = f"{thing.colour} {thing.shape}"
    number = article(name) if thing.count == 1 else f"{thing.count} {thing.colour} {plural(thing.shape)}"
    return f"{rng.choice(('nearby', 'apart from that', 'besides'))}, {number}"


def _description(background: str, subject: Thing | None, stated: dict, rng: random.Random) -> str:
    if subject is None or "motion" not in stated:
        who = noun_phrase(seen_facts(subject, stated), rng) if subject else "an empty view"
        return as_sentence(f"{who} {rng.choice(PLACES[background])}")
    motion = {name: stated[name] for name in ("motion", "direction", "speed") if name in stated}
    return as_sentence(sentence(seen_facts(subject, stated) | motion | {"backgrounds": [background]}, rng, plain=True))


def candidates(request: Request, rng: random.Random, corrupted_share: float) -> Reply:
    """Caption candidates as a JSON object with the coarse caption under ``original`` (supplement, listing 3)."""
    caption = request.slots["caption"]
    stated = caption_facts(caption)
    if not {"shape", "motion"} <= set(stated):
        return Reply("", "error", "unknown-caption", "the caption names no object and motion of the demo world")
    facts = gather(request.slots["keyframes"], stated)
    written, notes = write_candidates(
        request,
        facts,
        "statics",
        corrupted_share,
        lambda index: select(facts, stated, index, rng),
        lambda chosen: sentence(chosen, rng, plain=rng.random() < 0.5),
    )
    answer = {"original": caption} | {str(number): text for number, text in enumerate(written, start=1)}
    return Reply(json.dumps(answer, ensure_ascii=False, indent=2), notes={"corrupted": notes})


def gather(keyframes: str, stated: dict) -> dict:
    """Facts that most keyframe notes agree on, together with the coarse caption's, which take precedence.

    Backgrounds are in order of time; the second object is the most frequent one.
    """
    votes: dict[str, Counter] = {name: Counter() for name in (*SEEN, "bystander")}
    backgrounds: list[str] = []
    for label, text in _notes(keyframes):
        if label == "background":
            backgrounds += [name for name in caption_facts(text).get("backgrounds", []) if name not in backgrounds[-1:]]
        elif label == "objects attributes":
            sentences = re.split(r"(?<=\.)\s+", text)
            if not sentences[0].lower().startswith("no "):
                subject = caption_facts(sentences[0])
                for name in SEEN:
                    if name in subject:
                        votes[name][subject[name]] += 1
            for other in map(caption_facts, sentences[1:2]):
                if "shape" in other and "colour" in other:
                    votes["bystander"][(other["shape"], other["colour"])] += 1
    facts = {name: votes[name].most_common(1)[0][0] for name in SEEN if votes[name]}
    if votes["bystander"]:
        shape, colour = votes["bystander"].most_common(1)[0][0]
        facts["bystander"] = {"shape": shape, "colour": colour}
    facts |= {name: value for name, value in stated.items() if name not in ("backgrounds", "bystander", "pan")}
    backgrounds = backgrounds or stated.get("backgrounds", [])
    return facts | ({"backgrounds": backgrounds} if backgrounds else {})


def _notes(keyframes: str) -> list[tuple[str, str]]:
    notes = []
    for line in keyframes.splitlines():
        if match := LABELS.match(line):
            text = match.group(2).strip()
            try:
                text = str(json.loads(text)) if text.startswith('"') else text
            except json.JSONDecodeError:
                text = text.strip('"')
            notes.append((match.group(1).lower(), text))
    return notes


def select(facts: dict, stated: dict, index: int, rng: random.Random) -> dict:
    """Facts that candidate `index` states: all of the caption's, and more of the rest the higher the number."""
    chosen = {
        name: facts[name] for name in ("shape", "motion", "direction", "speed", "colour", "count") if name in facts
    }
    likely = (0.45, 0.75, 0.95)[min(index, 2)]
    for name in ("size", "texture"):
        if name in facts and (name in stated or rng.random() < likely * (0.3 if facts[name] == "plain" else 1)):
            chosen[name] = facts[name]
    backgrounds = facts.get("backgrounds", [])
    if backgrounds and (index != 1 or rng.random() < 0.6 or "backgrounds" in stated):
        chosen["backgrounds"] = backgrounds[: 1 if rng.random() < 0.4 else 3]
    if facts.get("bystander") and (facts["motion"] == "meets" or index == 1 or rng.random() < 0.4):
        chosen["bystander"] = facts["bystander"]
    return chosen
