"""Questions about the motion of a caption's objects (supplement, listing 4), and answers to them (listing 5)."""

import random
import re

from verified.demo.caption_facts import caption_facts
from verified.demo.scene_reader.wording import action, is_plural, noun_phrase, other_phrase, predicate
from verified.demo.shapes import NAMES, plural
from verified.lmm.request import Reply, Request

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


def questions(request: Request, rng: random.Random) -> Reply:
    """Numbered questions about the motion of the caption's objects."""
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


def answer(question: str, facts: dict, rng: random.Random) -> str:
    """One sentence, without capital letter and full stop, that answers a question from the facts of a clip."""
    topic = next((name for name, words in ASKED_OF.items() if re.search(words, question, re.I)), "action")
    return ANSWERS[topic](facts, rng)


def _action(facts: dict, rng: random.Random) -> str:
    who = {name: facts[name] for name in ("shape", "count") if name in facts}
    return f"{noun_phrase(who, rng, definite=True)} {action(facts, rng)}"


def _direction(facts: dict, rng: random.Random) -> str:
    if not facts.get("direction"):
        return "they do not go in any direction" if is_plural(facts) else "it does not go in any direction"
    verb = "circles" if facts["motion"] == "circles" else "moves"
    way = predicate({"motion": verb, "direction": facts["direction"], "count": facts.get("count")}, rng)
    return f"{_they(facts)} {way}"


def _speed(facts: dict, rng: random.Random) -> str:
    return f"the motion is {facts['speed']}" if facts.get("speed") else "there is no travelling motion with a speed"


def _size(facts: dict, rng: random.Random) -> str:
    change = {"grows": "bigger", "shrinks": "smaller"}.get(facts["motion"])
    if not change:
        return "no, the size remains the same"
    return f"yes, {_they(facts)} {'get' if is_plural(facts) else 'gets'} {change}"


def _contact(facts: dict, rng: random.Random) -> str:
    other = facts.get("bystander")
    if facts["motion"] == "meets":
        return f"yes, {_they(facts)} {'touch' if is_plural(facts) else 'touches'} {other_phrase(other)}"
    if other:
        return f"no, but {other_phrase(other)} is nearby"
    return "no, they are alone" if is_plural(facts) else "no, it is alone"


def _scene(facts: dict, rng: random.Random) -> str:
    names = [NAMES[name] for name in facts["backgrounds"]]
    if len(names) > 1:
        return f"yes, the background changes from {' to '.join(names)}"
    return f"no, {names[0]} remains the background"


def _presence(facts: dict, rng: random.Random) -> str:
    if facts["motion"] == "appears":
        return f"no, {_they(facts)} {'appear' if is_plural(facts) else 'appears'} only later"
    if facts["motion"] == "vanishes":
        return f"no, {_they(facts)} {'vanish' if is_plural(facts) else 'vanishes'} in the end"
    return f"yes, {_they(facts)} {'are' if is_plural(facts) else 'is'} there all the time"


def _they(facts: dict) -> str:
    return "they" if is_plural(facts) else "it"


ANSWERS = {
    "action": _action,
    "direction": _direction,
    "speed": _speed,
    "size": _size,
    "contact": _contact,
    "scene": _scene,
    "presence": _presence,
}
