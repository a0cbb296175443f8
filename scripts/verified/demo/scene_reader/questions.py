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
    motion, other, several = facts["motion"], facts.get("bystander"), is_plural(facts)
    they = "they" if several else "it"
    match topic:
        case "direction" if facts.get("direction"):
            verb = "circles" if motion == "circles" else "moves"
            way = {"motion": verb, "direction": facts["direction"], "count": facts.get("count")}
            return f"{they} {predicate(way, rng)}"
        case "direction":
            return f"{they} {'do' if several else 'does'} not go in any direction"
        case "speed" if facts.get("speed"):
            return f"the motion is {facts['speed']}"
        case "speed":
            return "there is no travelling motion with a speed"
        case "size" if motion in ("grows", "shrinks"):
            return f"yes, {they} {'get' if several else 'gets'} {'bigger' if motion == 'grows' else 'smaller'}"
        case "size":
            return "no, the size remains the same"
        case "contact" if motion == "meets":
            return f"yes, {they} {'touch' if several else 'touches'} {other_phrase(other)}"
        case "contact" if other:
            return f"no, but {other_phrase(other)} is nearby"
        case "contact":
            return f"no, {they} {'are' if several else 'is'} alone"
        case "scene" if len(facts["backgrounds"]) > 1:
            return f"yes, the background changes from {' to '.join(NAMES[name] for name in facts['backgrounds'])}"
        case "scene":
            return f"no, {NAMES[facts['backgrounds'][0]]} remains the background"
        case "presence" if motion == "appears":
            return f"no, {they} {'appear' if several else 'appears'} only later"
        case "presence" if motion == "vanishes":
            return f"no, {they} {'vanish' if several else 'vanishes'} in the end"
        case "presence":
            return f"yes, {they} {'are' if several else 'is'} there all the time"
    who = {name: facts[name] for name in ("shape", "count") if name in facts}
    return f"{noun_phrase(who, rng, definite=True)} {action(facts, rng)}"
