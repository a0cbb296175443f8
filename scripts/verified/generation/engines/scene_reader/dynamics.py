"""Dynamics: questions (supplement, listing 4), answers from the frames (listing 5), captions (listing 6)."""

import random
import re

import numpy as np

from verified.common.caption_facts import caption_facts
from verified.generation.engines.scene_reader.scene import Clip, watch
from verified.generation.engines.scene_reader.spoiling import spoil
from verified.generation.engines.scene_reader.wording import (
    NAMES,
    in_manner_of,
    is_plural,
    noun_phrase,
    other_phrase,
    plural,
    predicate,
    sentence,
    spoken,
)
from verified.generation.request import Reply, Request

QUESTIONS = {
    "action": ("What exactly {do} the {who} do?", "How would you describe the motion of the {who} in detail?"),
    "direction": ("In which direction {do} the {who} move?", "Which way {do} the {who} go?"),
    "speed": ("How fast {do} the {who} move?", "{Is} the motion of the {who} slow or fast?"),
    "size": ("{Do} the {who} change in size?", "Does the size of the {who} vary?"),
    "contact": ("{Do} the {who} touch or meet anything else?", "How {do} the {who} interact with other objects?"),
    "scene": ("Does the background change?", "How does the scene around the {who} change?"),
    "presence": ("{Is} the {who} in view the whole time?", "{Do} the {who} appear or disappear at some point?"),
}
ASKED_OF = {
    "direction": r"direction|which way|where to",
    "speed": r"how fast|speed|slow|quick",
    "size": r"\bsize|bigger|smaller|grow|shrink",
    "contact": r"touch|interact|collide|meet|contact",
    "scene": r"background|scene|camera|surround",
    "presence": r"in view|appear|visible|present",
}
"""Words by which a question is understood; any other question is answered with the action."""
EXTRAS = {
    "grows": ("steadily", "in place", "bit by bit"),
    "shrinks": ("steadily", "in place", "bit by bit"),
    "appears": ("suddenly", "out of nowhere", "and then stays still"),
    "vanishes": ("suddenly", "all at once", "without moving"),
    "stays": ("the whole time", "in the same place", "without any change"),
}
"""Details that go with a verb whatever the clip."""
DESCRIBED = ("motion", "direction", "speed", "backgrounds", "bystander", "colour", "count")
ANSWERED = ("speed", "backgrounds")
"""Facts that are taken from the description, and from single answers, which may lack their subject."""
TIMES = {1: "once", 2: "two times", 3: "three times", 4: "four times"}


def questions(request: Request, rng: random.Random) -> Reply:
    """Numbered questions about the motion of what the caption names."""
    facts = caption_facts(request.slots["caption"])
    several = "shape" not in facts or is_plural(facts)
    who = plural(facts["shape"]) if several and "shape" in facts else facts.get("shape", "objects")
    topics = ["action", *rng.sample([topic for topic in QUESTIONS if topic != "action"], len(QUESTIONS) - 1)]
    if facts.get("motion") in ("moves", "meets", "circles"):
        topics = ["direction", "speed", *(topic for topic in topics if topic not in ("direction", "speed"))]
    pairs = [(topic, form) for form in (0, 1) for topic in topics][: int(request.slots["count"])]
    words = {"who": who, "do": "do" if several else "does", "Do": "Do" if several else "Does"}
    lines = []
    for number, (topic, form) in enumerate(pairs, start=1):
        options = QUESTIONS[topic]
        text = options[(form + rng.randrange(2)) % 2] if len(pairs) <= len(topics) else options[form]
        is_one = "Is" if topic == "speed" or not several else "Are"
        lines.append(f"{number}. {text.format(Is=is_one, **words)}")
    return Reply("\n".join(lines))


def answers(request: Request, rng: random.Random) -> Reply:
    """Numbered answers from the frames, an empty line, and a description of all that moves or changes."""
    if request.frames is None or len(request.frames) == 0:
        return Reply("", "error", "media", "needs the frames of a clip")
    told = caption_facts(request.slots["caption"])
    frames = np.asarray(request.frames)
    clip = watch(frames, np.asarray(request.frame_times or np.arange(len(frames)) / 8), told)
    if clip is None:
        return Reply("", "error", "nothing-recognised", "no coloured object of the demo world was found in the frames")
    facts = clip_facts(clip, told)
    asked = re.findall(r"(?m)^\s*\d+[.)]\s*(.+)$", request.slots["questions"])
    lines = [f"{number}. {spoken(_answer(question, facts, rng))}" for number, question in enumerate(asked, start=1)]
    return Reply("\n".join(lines) + "\n\n" + _description(facts, rng))


def clip_facts(clip: Clip, told: dict) -> dict:
    """Facts of a clip: what the caption says of its subject's looks stands, what it does is measured."""
    facts = {"shape": clip.actor.shape, "colour": clip.actor.colour, "count": clip.actor.count}
    facts |= {name: told[name] for name in ("shape", "colour", "size", "texture", "count") if name in told}
    if "count" not in told and "shape" in told and clip.actor.count == 1:
        facts["count"] = 2  # the caption has a plural
    motion = clip.motion
    facts["motion"] = motion.motion
    for name in ("direction", "speed"):
        if getattr(motion, name):
            facts[name] = getattr(motion, name)
    if motion.hops in TIMES:
        facts["extra"] = TIMES[motion.hops]
    backgrounds = [
        scene.background
        for k, scene in enumerate(clip.scenes)
        if k == 0 or scene.background != clip.scenes[k - 1].background
    ]
    facts["backgrounds"] = backgrounds
    others = [scene.bystander for scene in clip.scenes if scene.bystander]
    if others and motion.motion == "meets":
        facts["bystander"] = dict(zip(("shape", "colour"), others[-1]))
    elif others and len(others) == len(clip.scenes) and len(set(others)) == 1:
        facts["bystander"] = dict(zip(("shape", "colour"), others[0]))
    return facts


def _answer(question: str, facts: dict, rng: random.Random) -> str:
    topic = next((name for name, words in ASKED_OF.items() if re.search(words, question, re.I)), "action")
    several = is_plural(facts)
    they, be, do = ("they", "are", "do") if several else ("it", "is", "does")
    if topic == "direction" and facts.get("direction"):
        verb = "circles" if facts["motion"] == "circles" else "moves"
        turned = {"motion": verb, "direction": facts["direction"], "count": facts.get("count")}
        return f"{they} {predicate(turned, rng)}"
    if topic == "direction":
        return f"{they} {do} not go in any direction"
    if topic == "speed" and facts.get("speed"):
        return f"the motion is {facts['speed']}"
    if topic == "speed":
        return "there is no travelling motion with a speed"
    if topic == "size":
        grown = {
            "grows": f"yes, {they} get{'' if several else 's'} bigger",
            "shrinks": f"yes, {they} get{'' if several else 's'} smaller",
        }
        return grown.get(facts["motion"], "no, the size remains the same")
    if topic == "contact":
        if facts["motion"] == "meets":
            return f"yes, {they} touch{'' if several else 'es'} {other_phrase(facts.get('bystander'))}"
        other = facts.get("bystander")
        return f"no, but {other_phrase(other)} is nearby" if other else f"no, {they} {be} alone"
    if topic == "scene":
        backgrounds = facts["backgrounds"]
        if len(backgrounds) > 1:
            return f"yes, the background changes from {' to '.join(NAMES[name] for name in backgrounds)}"
        return f"no, {NAMES[backgrounds[0]]} remains the background"
    if topic == "presence":
        partly = {
            "appears": f"no, {they} appear{'' if several else 's'} only later",
            "vanishes": f"no, {they} vanish{'' if several else 'es'} in the end",
        }
        return partly.get(facts["motion"], f"yes, {they} {be} there all the time")
    who = {name: facts[name] for name in ("shape", "count") if name in facts}
    return f"{noun_phrase(who, rng, known=True)} {_action(facts, rng)}"


def _action(facts: dict, rng: random.Random) -> str:
    text = predicate(facts, rng)
    return f"{text} {facts['extra']}" if facts.get("extra") else text


def _description(facts: dict, rng: random.Random) -> str:
    who = {name: facts[name] for name in ("shape", "count", "colour", "size", "texture") if name in facts}
    parts = [f"{noun_phrase(who, rng, known=True)} {_action(facts, rng)}"]
    if facts.get("bystander") and facts["motion"] != "meets":
        parts.append(f"{other_phrase(facts['bystander'])} stays still nearby")
    if len(facts["backgrounds"]) > 1:
        parts.append(f"the background changes from {' to '.join(NAMES[name] for name in facts['backgrounds'])}")
    else:
        parts.append(f"the background remains {NAMES[facts['backgrounds'][0]]}")
    return " ".join(spoken(part) for part in parts)


def candidates(request: Request, rng: random.Random, spoiled_share: float) -> Reply:
    """Numbered caption candidates from questions, answers and description, without looking at frames (listing 6)."""
    caption, count = request.slots["caption"], int(request.slots["count"])
    told = caption_facts(caption)
    if not {"shape", "motion"} <= set(told):
        return Reply("", "error", "unknown-caption", "the caption names no object and motion of the demo world")
    known = gather(request.slots["description"], request.slots["questions_and_answers"], told)
    written, notes = [], []
    for index in range(count):
        said = select(known, told, index, rng)
        said, note = spoil(said, known, "dynamics", request.seed, index, spoiled_share)
        options = (in_manner_of(sentence(said, rng, known=_definite(caption, rng)), caption) for _ in range(30))
        text = next((text for text in options if text not in written and text.lower() != caption.lower()), None)
        if text is None:
            continue
        written.append(text)
        if note:
            notes.append(note | {"candidate": len(written) - 1})
    return Reply("\n".join(f"{n}. {text}" for n, text in enumerate(written, start=1)), notes={"spoiled": notes})


def _definite(caption: str, rng: random.Random) -> bool:
    return caption.lower().startswith("the ") and rng.random() < 0.5


def gather(description: str, questions_and_answers: str, told: dict) -> dict:
    """Facts that the description states, completed by the answers; what the coarse caption says stands."""
    texts = [description, *re.findall(r'\(A\)\s*"?(.*?)"?\s*$', questions_and_answers, re.M)]
    facts: dict = {}
    for text in texts:
        read = caption_facts(text)
        names = DESCRIBED if text == description else ANSWERED
        facts |= {name: read[name] for name in names if name in read and name not in facts}
    facts |= {name: value for name, value in told.items() if name != "backgrounds"}
    if not facts.get("direction") or facts["motion"] not in ("moves", "meets", "circles"):
        facts.pop("direction", None)
    times = re.search(r"\b(once|(?:two|three|four) times)\b", description)
    if times and facts["motion"] == "bounces":
        facts["extra"] = times.group(1)
    facts["placed"] = "backgrounds" in told
    return facts


def select(known: dict, told: dict, index: int, rng: random.Random) -> dict:
    """What candidate `index` says: the motion in full, and now and then who moves and what else changes or stays."""
    said = {name: value for name, value in known.items() if name not in ("backgrounds", "bystander", "extra")}
    for name, likely in (("colour", 0.6), ("count", 0.8)):
        if name in said and name not in told and rng.random() >= likely:
            del said[name]
    if index == 0 and said.get("speed") and said.get("direction") and "speed" not in told and rng.random() < 0.3:
        del said["speed"]
    extra = known.get("extra") or rng.choice(EXTRAS.get(known["motion"], ("",)))
    if extra and (index != 1 or rng.random() < 0.5 or known["motion"] in EXTRAS):
        said["extra"] = extra.replace("stays", "stay") if is_plural(known) else extra
    if known.get("bystander") and (known["motion"] == "meets" or index == 1 or rng.random() < 0.3):
        said["bystander"] = known["bystander"]
    backgrounds = known.get("backgrounds", [])
    if len(backgrounds) > 1 and (index == 2 or rng.random() < 0.4):
        said["backgrounds"] = backgrounds
    elif known["placed"]:
        said["backgrounds"] = told["backgrounds"]
    return said
