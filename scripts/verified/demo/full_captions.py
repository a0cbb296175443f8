"""Full true captions of demo events, in varied English. The demo's own annotations never see them."""

import random
from typing import Any

from verified.demo.shapes import NAMES, SHAPES, article, plural

_NUMBERS = {1: ("a", "one", "a single"), 2: ("two", "a pair of", "two"), 3: ("three", "a group of three", "three")}
_SIZES = {"small": ("small", "little", "tiny"), "large": ("large", "big", "large")}
_SHAPES = {name: (name,) for name in SHAPES} | {"box": ("box", "box", "square")}
_TEXTURES = {
    "striped": ("striped", " with dark stripes"),
    "dotted": ("dotted", " with dark dots"),
    "plain": ("plain", ""),
}
_PLACES = {
    "wall": ("in front of a grey wall", "against a grey wall", "before a grey wall"),
    "sky": ("against the night sky", "in the dark night sky", "in front of a night sky"),
    "sand": ("on a sandy floor", "over sand", "across a sandy floor"),
    "field": ("on a green field", "over green grass", "across a green field"),
    "bricks": ("in front of a brick wall", "against bricks", "across a brick wall"),
    "water": ("on light blue water", "over water", "across light blue water"),
}
_DIRECTIONS = {
    "left": ("to the left", "leftwards", "towards the left"),
    "right": ("to the right", "rightwards", "towards the right"),
    "up": ("up", "upwards", "towards the top"),
    "down": ("down", "downwards", "towards the bottom"),
    "clockwise": ("clockwise", "clockwise", "in a clockwise direction"),
    "anticlockwise": ("anticlockwise", "counter-clockwise", "in an anticlockwise direction"),
}
_SPEEDS = {"slow": ("slowly", "at a slow pace", "slowly"), "fast": ("quickly", "fast", "rapidly")}
# Verbs as (singular, plural), each with the words that follow it.
_VERBS = {
    "moves": (("moves", "move"), ("glides", "glide"), ("slides", "slide"), ("travels", "travel")),
    "grows": (("grows", "grow"), ("gets bigger", "get bigger"), ("expands", "expand")),
    "shrinks": (("shrinks", "shrink"), ("gets smaller", "get smaller")),
    "bounces": (("bounces up and down", "bounce up and down"), ("hops up and down", "hop up and down")),
    "circles": (("circles", "circle"), ("moves in a circle", "move in a circle"), ("orbits", "orbit")),
    "appears": (("appears", "appear"), ("pops up", "pop up"), ("shows up", "show up")),
    "vanishes": (("vanishes", "vanish"), ("disappears", "disappear")),
    "stays": (("stays still", "stay still"), ("does not move", "do not move"), ("rests", "rest")),
}
_MEETING = (
    ("until it touches", "until they touch"),
    ("and bumps into", "and bump into"),
    ("and reaches", "and reach"),
    ("and meets", "and meet"),
)
_WAITING = ("stays still", "rests nearby", "stands by", "does not move")


Description = dict[str, Any]
"""Attributes of an event that a caption states; None: not mentioned (or not applicable)."""


def describe(facts: dict, rng: random.Random) -> Description:
    """Choose which facts of an event to state (see `scenes.facts`): always the actor and the motion, and most of the
    rest.
    """
    first = facts["scenes"][0]
    later = [scene["background"] for scene in facts["scenes"][1:]]
    stays = all(scene["bystander"] == first["bystander"] for scene in facts["scenes"])
    bystander = first["bystander"] if stays or rng.random() < 0.5 else None
    if bystander and facts["motion"] != "meets" and rng.random() < 0.3:
        bystander = None
    keep = [rng.random() for _ in range(5)]
    return {
        **{name: facts[name] for name in ("shape", "colour", "count", "motion", "direction")},
        "size": facts["size"] if keep[0] < 0.75 else None,
        "texture": facts["texture"] if keep[1] < (0.5 if facts["texture"] == "plain" else 0.85) else None,
        "background": first["background"] if keep[2] < 0.8 else None,
        "next_background": later[0] if later and keep[2] < 0.8 and keep[3] < 0.7 else None,
        "bystander_shape": bystander and bystander["shape"],
        "bystander_colour": bystander and bystander["colour"],
        "speed": facts["speed"] if keep[4] < 0.75 else None,
    }


def word(description: Description, style: int) -> str:
    """The English of a description. `style` decides the wording alone: descriptions of equal style differ only in their
    facts.
    """
    rng = random.Random(style)
    draws = [rng.random() for _ in range(12)]
    subject = _subject(description, draws)
    verb = _predicate(description, draws)
    setting = f" {_pick(_PLACES[description['background']], draws[7])}" if description["background"] else ""
    waiting = ""
    if description["bystander_shape"] and description["motion"] != "meets":
        waiting = f" {('while', 'as')[draws[8] < 0.4]} {_other(description)} {_pick(_WAITING, draws[9])}"
    after = (
        f", then the background changes to {NAMES[description['next_background']]}"
        if description["next_background"]
        else ""
    )
    if setting and draws[10] < 0.2:
        return f"{setting.strip()}, {subject} {verb}{waiting}{after}"
    return f"{subject} {verb}{setting}{waiting}{after}"


def _subject(description: Description, draws: list[float]) -> str:
    before, behind = [], ""
    if description["size"]:
        before.append(_pick(_SIZES[description["size"]], draws[1]))
    before.append(description["colour"])
    if description["texture"]:
        adjective, addition = _TEXTURES[description["texture"]]
        if addition and draws[2] < 0.4:
            behind = addition
        else:
            before.append(adjective)
    noun = _pick(_SHAPES[description["shape"]], draws[3])
    number = _pick(_NUMBERS[description["count"]], draws[0])
    if number == "a" and before[0][0] in "aeiou":
        number = "an"
    return f"{number} {' '.join(before)} {noun if description['count'] == 1 else plural(noun)}{behind}"


def _predicate(description: Description, draws: list[float]) -> str:
    manner = f" {_pick(_SPEEDS[description['speed']], draws[4])}" if description["speed"] else ""
    direction = f" {_pick(_DIRECTIONS[description['direction']], draws[5])}" if description["direction"] else ""
    motion = "moves" if description["motion"] == "meets" else description["motion"]
    verb = _pick(_VERBS[motion], draws[6])[description["count"] > 1]
    tail = f"{manner}{direction}" if draws[11] < 0.5 else f"{direction}{manner}"
    if description["motion"] == "meets":
        tail += f" {_pick(_MEETING, draws[9])[description['count'] > 1]} {_other(description)}"
    return f"{verb}{tail}"


def _other(description: Description) -> str:
    return article(f"{description['bystander_colour']} {description['bystander_shape']}")


def _pick(options: tuple, draw: float):
    return options[int(draw * len(options))]
