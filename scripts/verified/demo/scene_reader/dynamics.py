"""Dynamics: answers and a description from the frames (supplement, listing 5), and captions from these (listing 6)."""

import random
import re

import numpy as np

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.corruption import write_candidates
from verified.demo.scene_reader.questions import answer
from verified.demo.scene_reader.scene import Clip, watch
from verified.demo.scene_reader.wording import (
    TIMES,
    action,
    as_sentence,
    detail,
    noun_phrase,
    other_phrase,
    sentence,
)
from verified.demo.shapes import NAMES
from verified.lmm.request import Reply, Request

DESCRIBED = ("motion", "direction", "speed", "backgrounds", "bystander", "colour", "count")
ANSWERED = ("speed", "backgrounds")
"""Facts taken from the description, and from single answers, which may lack their subject."""


def answers(request: Request, rng: random.Random) -> Reply:
    """Numbered answers from the frames, an empty line, and a description of all that moves or changes."""
    stated = caption_facts(request.slots["caption"])
    clip = read_clip(request, stated)
    if isinstance(clip, Reply):
        return clip
    facts = clip_facts(clip, stated)
    questions = re.findall(r"(?m)^\s*\d+[.)]\s*(.+)$", request.slots["questions"])
    lines = [
        f"{number}. {as_sentence(answer(question, facts, rng))}" for number, question in enumerate(questions, start=1)
    ]
    return Reply("\n".join(lines) + "\n\n" + _description(facts, rng))


def read_clip(request: Request, stated: dict) -> Clip | Reply:
    """The clip in the frames of a request, guided by the facts of its caption; or an error."""
    if request.frames is None or len(request.frames) == 0:
        return Reply("", "error", "media", "needs the frames of a clip")
    frames = np.asarray(request.frames)
    clip = watch(frames, np.asarray(request.frame_times or np.arange(len(frames)) / 8), stated)
    nothing = "no coloured object of the demo world was found in the frames"
    return clip or Reply("", "error", "nothing-recognised", nothing)


def clip_facts(clip: Clip, stated: dict) -> dict:
    """Facts of a clip: the appearance of its subject from the caption, its motion as measured."""
    facts = {"shape": clip.actor.shape, "colour": clip.actor.colour, "count": clip.actor.count}
    facts |= {name: stated[name] for name in ("shape", "colour", "size", "texture", "count") if name in stated}
    if "count" not in stated and "shape" in stated and clip.actor.count == 1:
        facts["count"] = 2  # the caption has a plural
    motion = dict(clip.motion)
    hops = motion.pop("hops", None)
    facts |= motion | ({"extra": TIMES[hops]} if hops in TIMES else {})
    backgrounds = [
        scene.background
        for k, scene in enumerate(clip.scenes)
        if k == 0 or scene.background != clip.scenes[k - 1].background
    ]
    facts["backgrounds"] = backgrounds
    others = [scene.bystander for scene in clip.scenes if scene.bystander]
    if others and motion["motion"] == "meets":
        facts["bystander"] = dict(zip(("shape", "colour"), others[-1]))
    elif others and len(others) == len(clip.scenes) and len(set(others)) == 1:
        facts["bystander"] = dict(zip(("shape", "colour"), others[0]))
    return facts


def _description(facts: dict, rng: random.Random) -> str:
    who = {name: facts[name] for name in ("shape", "count", "colour", "size", "texture") if name in facts}
    parts = [f"{noun_phrase(who, rng, definite=True)} {action(facts, rng)}"]
    if facts.get("bystander") and facts["motion"] != "meets":
        parts.append(f"{other_phrase(facts['bystander'])} stays still nearby")
    if len(facts["backgrounds"]) > 1:
        parts.append(f"the background changes from {' to '.join(NAMES[name] for name in facts['backgrounds'])}")
    else:
        parts.append(f"the background remains {NAMES[facts['backgrounds'][0]]}")
    return " ".join(as_sentence(part) for part in parts)


def candidates(request: Request, rng: random.Random, corrupted_share: float) -> Reply:
    """Numbered caption candidates from questions, answers and description, without looking at frames (listing 6)."""
    caption = request.slots["caption"]
    stated = caption_facts(caption)
    if not {"shape", "motion"} <= set(stated):
        return Reply("", "error", "unknown-caption", "the caption names no object and motion of the demo world")
    facts = gather(request.slots["description"], request.slots["questions_and_answers"], stated)
    definite = caption.lower().startswith("the ")
    written, notes = write_candidates(
        request,
        facts,
        "dynamics",
        corrupted_share,
        lambda index: select(facts, stated, index, rng),
        lambda chosen: sentence(chosen, rng, definite=definite and rng.random() < 0.5),
    )
    return Reply("\n".join(f"{n}. {text}" for n, text in enumerate(written, start=1)), notes={"corrupted": notes})


def gather(description: str, questions_and_answers: str, stated: dict) -> dict:
    """Facts of the description, completed by the answers; facts of the coarse caption take precedence."""
    texts = [description, *re.findall(r'\(A\)\s*"?(.*?)"?\s*$', questions_and_answers, re.M)]
    facts: dict = {}
    for text in texts:
        read = caption_facts(text)
        names = DESCRIBED if text == description else ANSWERED
        facts |= {name: read[name] for name in names if name in read and name not in facts}
    facts |= {name: value for name, value in stated.items() if name != "backgrounds"}
    if not facts.get("direction") or facts["motion"] not in ("moves", "meets", "circles"):
        facts.pop("direction", None)
    times = re.search(r"\b(once|(?:two|three|four) times)\b", description)
    if times and facts["motion"] == "bounces":
        facts["extra"] = times.group(1)
    facts["placed"] = "backgrounds" in stated
    return facts


def select(facts: dict, stated: dict, index: int, rng: random.Random) -> dict:
    """Facts that candidate `index` states: the motion in full, and sometimes the actor and other changes."""
    chosen = {name: value for name, value in facts.items() if name not in ("backgrounds", "bystander", "extra")}
    for name, likely in (("colour", 0.6), ("count", 0.8)):
        if name in chosen and name not in stated and rng.random() >= likely:
            del chosen[name]
    if index == 0 and chosen.get("speed") and chosen.get("direction") and "speed" not in stated and rng.random() < 0.3:
        del chosen["speed"]
    if "extra" in facts:
        chosen |= {"extra": facts["extra"]} if rng.random() < 0.8 else {}
    else:
        chosen |= detail(facts, rng)
    if facts.get("bystander") and (facts["motion"] == "meets" or index == 1 or rng.random() < 0.3):
        chosen["bystander"] = facts["bystander"]
    backgrounds = facts.get("backgrounds", [])
    if len(backgrounds) > 1 and (index == 2 or rng.random() < 0.4):
        chosen["backgrounds"] = backgrounds
    elif facts["placed"]:
        chosen["backgrounds"] = stated["backgrounds"]
    return chosen
