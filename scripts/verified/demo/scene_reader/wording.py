"""Turn facts into English of varied wording.

Facts are those of `verified.demo.caption_facts`; a fact that is absent is not mentioned. Every choice of words is drawn
from the given `random.Random`, so a sentence is a pure function of facts and seed.
"""

import random

from verified.demo.caption_facts import COLOURS
from verified.demo.shapes import NAMES, article, plural

NUMBERS = {1: ("a", "a", "one", "a single"), 2: ("two", "two", "a pair of"), 3: ("three", "three", "a group of three")}
SIZES = {"small": ("small", "small", "little", "tiny"), "large": ("large", "large", "big")}
TEXTURES = {
    "striped": ("striped", "striped", " with dark stripes"),
    "dotted": ("dotted", "dotted", " with dark dots"),
    "plain": ("plain",),
}
SHAPES = {shape: (shape,) for shape in ("ball", "triangle", "star", "ring", "cross")} | {
    "box": ("box", "box", "square")
}
PLACES = {
    "wall": ("in front of a grey wall", "against a grey wall", "before a grey wall"),
    "sky": ("against the night sky", "against a dark night sky", "in front of the night sky"),
    "sand": ("on a sandy floor", "over sand", "on the sand"),
    "field": ("on a green field", "over green grass", "across a green field"),
    "bricks": ("in front of a brick wall", "against a brick wall", "in front of bricks"),
    "water": ("on light blue water", "over light blue water", "over water"),
}
DIRECTIONS = {
    "left": ("to the left", "leftwards", "towards the left"),
    "right": ("to the right", "rightwards", "towards the right"),
    "up": ("up", "upwards", "towards the top"),
    "down": ("down", "downwards", "towards the bottom"),
    "clockwise": ("clockwise", "in a clockwise direction"),
    "anticlockwise": ("anticlockwise", "counter-clockwise", "in an anticlockwise direction"),
}
SPEEDS = {"slow": ("slowly", "at a slow pace"), "fast": ("quickly", "fast", "rapidly")}
VERBS = {
    "moves": (("moves", "move"), ("glides", "glide"), ("slides", "slide"), ("travels", "travel")),
    "grows": (("grows", "grow"), ("gets bigger", "get bigger"), ("expands", "expand")),
    "shrinks": (("shrinks", "shrink"), ("gets smaller", "get smaller")),
    "bounces": (
        ("bounces", "bounce"),
        ("bounces up and down", "bounce up and down"),
        ("hops up and down", "hop up and down"),
    ),
    "circles": (
        ("circles around", "circle around"),
        ("moves in a circle", "move in a circle"),
        ("circles", "circle"),
        ("orbits", "orbit"),
    ),
    "appears": (("appears", "appear"), ("shows up", "show up"), ("pops up", "pop up")),
    "vanishes": (("vanishes", "vanish"), ("disappears", "disappear")),
    "stays": (("stays still", "stay still"), ("does not move", "do not move"), ("rests", "rest")),
    "meets": (
        ("touches", "touch"),
        ("meets", "meet"),
        ("bumps into", "bump into"),
        ("reaches", "reach"),
    ),
}
EXTRAS = {
    "grows": ("steadily", "in place", "bit by bit"),
    "shrinks": ("steadily", "in place", "bit by bit"),
    "appears": ("suddenly", "out of nowhere", "and then stays still"),
    "vanishes": ("suddenly", "all at once", "without moving"),
    "stays": ("the whole time", "in the same place", "without any change"),
}
"""Details that fit a verb in any clip."""
TIMES = {1: "once", 2: "two times", 3: "three times", 4: "four times"}
"""How often something bounces."""
WAITING = ("stays still", "rests nearby", "stands by", "does not move")


def is_plural(facts: dict) -> bool:
    return facts.get("count") != 1


def noun_phrase(facts: dict, rng: random.Random, definite: bool = False) -> str:
    """Number, size, texture, colour and shape, e.g. ``two small striped red balls``; `definite` asks for "the"."""
    before, behind = [], ""
    if facts.get("size"):
        before.append(rng.choice(SIZES[facts["size"]]))
    if facts.get("texture"):
        word = rng.choice(TEXTURES[facts["texture"]])
        if word.startswith(" "):
            behind = word
        else:
            before.append(word)
    if facts.get("colour"):
        before.append(facts["colour"])
    noun = rng.choice(SHAPES[facts["shape"]])
    words = " ".join([*before, plural(noun) if is_plural(facts) else noun]) + behind
    if definite:
        number = {2: "two ", 3: "three "}.get(facts.get("count", 1), "")
        return f"the {number}{words}"
    if "count" not in facts:
        return words
    number = rng.choice(NUMBERS.get(facts["count"], ("several",)))
    return article(words) if number == "a" else f"{number} {words}"


def other_phrase(bystander: dict | None) -> str:
    """The second object, e.g. ``a blue box``; ``something`` if it is unknown."""
    if not bystander:
        return "something"
    return article(" ".join(word for word in (bystander.get("colour"), bystander["shape"]) if word))


def verb(facts: dict, rng: random.Random, plain: bool = False) -> str:
    """The verb alone, agreeing with the number; `plain` asks for the most common one."""
    options = VERBS[facts["motion"]]
    return (options[0] if plain else rng.choice(options))[is_plural(facts)]


def predicate(facts: dict, rng: random.Random, plain: bool = False) -> str:
    """Verb with speed, direction and, for a meeting, the object met."""
    manner = rng.choice(SPEEDS[facts["speed"]]) if facts.get("speed") else ""
    direction = rng.choice(DIRECTIONS[facts["direction"]]) if facts.get("direction") else ""
    if facts["motion"] == "meets":
        met = other_phrase(facts.get("bystander"))
        if not (manner or direction):
            return f"{verb(facts, rng, plain)} {met}"
        they, ending = ("they", "") if is_plural(facts) else ("it", "s")
        moving = rng.choice(VERBS["moves"])[is_plural(facts)]
        touch = rng.choice(
            (
                f"until {they} touch{ending and 'es'}",
                f"and bump{ending} into",
                f"and reach{ending and 'es'}",
                f"and meet{ending}",
            )
        )
        return " ".join(part for part in (moving, *_order(manner, direction, rng), touch, met) if part)
    word = verb(facts, rng, plain)
    if facts["motion"] == "stays":
        return word
    if manner and manner.endswith("ly") and rng.random() < 0.3:
        return " ".join(part for part in (manner, word, direction) if part)
    return " ".join(part for part in (word, *_order(manner, direction, rng)) if part)


def _order(manner: str, direction: str, rng: random.Random) -> tuple[str, str]:
    return (manner, direction) if rng.random() < 0.5 else (direction, manner)


def action(facts: dict, rng: random.Random, plain: bool = False) -> str:
    """`predicate` with the detail under ``extra``, if there is one."""
    text = predicate(facts, rng, plain)
    return f"{text} {facts['extra']}" if facts.get("extra") else text


def detail(facts: dict, rng: random.Random) -> dict:
    """A detail under ``extra`` that fits the verb, if there is one."""
    if facts["motion"] not in EXTRAS:
        return {}
    extra = rng.choice(EXTRAS[facts["motion"]])
    return {"extra": extra.replace("stays", "stay") if is_plural(facts) else extra}


def company(facts: dict, rng: random.Random) -> str:
    """A clause about the still second thing, with its leading blank."""
    return f" {rng.choice(('while', 'as'))} {other_phrase(facts['bystander'])} {rng.choice(WAITING)}"


def change(backgrounds: list[str], rng: random.Random, named_before: bool) -> str:
    """A clause about cuts; the first background is named in it unless it was before."""
    start = "" if named_before else f" from {NAMES[backgrounds[0]]}"
    steps = " and then ".join(f"to {NAMES[name]}" for name in backgrounds[1:])
    return f", {rng.choice(('then', 'and then'))} the background changes{start} {steps}"


def sentence(facts: dict, rng: random.Random, plain: bool = False, definite: bool = False) -> str:
    """One sentence that states all of `facts` (shape and motion at least)."""
    subject, doing = noun_phrase(facts, rng, definite), action(facts, rng, plain)
    backgrounds = facts.get("backgrounds", [])
    place = rng.choice(PLACES[backgrounds[0]]) if backgrounds and facts.get("placed", True) else ""
    company_phrase = company(facts, rng) if facts.get("bystander") and facts["motion"] != "meets" else ""
    after = change(backgrounds, rng, bool(place)) if len(backgrounds) > 1 else ""
    if place and rng.random() < 0.2:
        return f"{place}, {subject} {doing}{company_phrase}{after}"
    if place and facts["motion"] == "meets":
        return f"{subject} {doing} {place}{after}"
    return f"{subject} {doing}{f' {place}' if place else ''}{company_phrase}{after}"


def in_manner_of(text: str, coarse: str) -> str:
    """`text` with the capital letter and full stop that the coarse caption has, or has not."""
    coarse = coarse.strip()
    text = text[0].upper() + text[1:] if coarse[:1].isupper() else text
    return text + "." if coarse.endswith(".") else text


def as_sentence(text: str) -> str:
    """`text` as a separate sentence."""
    return text[0].upper() + text[1:] + "."


ALL = {
    "shape": tuple(SHAPES),
    "colour": COLOURS,
    "size": tuple(SIZES),
    "texture": tuple(TEXTURES),
    "count": (1, 2, 3),
    "background": tuple(PLACES),
    "speed": tuple(SPEEDS),
}
"""Values that a static attribute or the speed can take."""
