"""Coarse captions of demo events, as people write them: an object and a verb, and in half of them one more thing.

DiDeMo's captions carry an attribute or a direction about as often; many moments share a caption, as in Charades-STA.
"""

import random

_DEFINITE = 0.15
"""Share of captions that say "the ball" instead of "a ball"."""

_VERBS = {
    "moves": ("moves", "move"),
    "meets": ("touches something", "touch something"),
    "grows": ("grows", "grow"),
    "shrinks": ("shrinks", "shrink"),
    "bounces": ("bounces", "bounce"),
    "circles": ("circles around", "circle around"),
    "appears": ("appears", "appear"),
    "vanishes": ("vanishes", "vanish"),
    "stays": ("stays still", "stay still"),
}
_DIRECTIONS = {"left": "to the left", "right": "to the right", "up": "up", "down": "down"}
_SPEEDS = {"slow": "slowly", "fast": "fast"}
_PLACES = {
    "wall": "by the wall",
    "sky": "at night",
    "sand": "on the sand",
    "field": "on the grass",
    "bricks": "by the bricks",
    "water": "on the water",
}
_NUMBERS = {2: "two", 3: "three"}


def coarse_caption(facts: dict, rng: random.Random) -> str:
    """A coarse caption of an event (see `world.facts`). It is true; it names one detail in about half of the draws."""
    several = facts["count"] > 1
    noun = _plural(facts["shape"]) if several else facts["shape"]
    verb = _VERBS[facts["motion"]][several]
    definite = rng.random() < _DEFINITE
    adjective, tail = _detail(facts, rng) if rng.random() < 0.5 else ("", "")
    noun = f"{adjective} {noun}" if adjective else noun
    if definite:
        noun = f"the {noun}"
    elif not several:
        noun = f"{_article(noun)} {noun}"
    text = f"{noun} {verb}"
    return f"{text} {tail}" if tail else text


def _detail(facts: dict, rng: random.Random) -> tuple[str, str]:
    """One attribute as an adjective, or one circumstance as a tail."""
    options = [("colour", 4), ("place", 1)]
    if facts["texture"] != "plain":
        options.append(("texture", 2))
    if facts["size"]:
        options.append(("size", 2))
    if facts["count"] > 1:
        options.append(("count", 2))
    if facts["direction"] in _DIRECTIONS and facts["motion"] == "moves":
        options.append(("direction", 4))
    if facts["speed"] and facts["motion"] == "moves":
        options.append(("speed", 2))
    names, weights = zip(*options)
    name = rng.choices(names, weights)[0]
    if name == "place":
        return "", _PLACES[facts["scenes"][0]["background"]]
    if name == "direction":
        return "", _DIRECTIONS[facts["direction"]]
    if name == "speed":
        return "", _SPEEDS[facts["speed"]]
    return (_NUMBERS[facts["count"]] if name == "count" else facts[name]), ""


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _plural(noun: str) -> str:
    return noun + ("es" if noun in ("box", "cross") else "s")
