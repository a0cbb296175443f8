"""Full captions of demo events, perturbed in exactly one respect.

With the true ones they replace the caption pairs that a large evaluator is pre-trained on.
"""

import random

from verified.demo.full_captions import Description
from verified.demo.motion import draw_direction
from verified.demo.scenes import COUNT_WEIGHTS, MOTION_WEIGHTS
from verified.demo.shapes import BACKGROUNDS, COLOURS, DIRECTIONS, HIDDEN, MOTIONS, SHAPES, SPEEDS, TEXTURES, TURNS

STATIC = (
    "shape",
    "colour",
    "count",
    "size",
    "texture",
    "background",
    "next_background",
    "bystander_shape",
    "bystander_colour",
)
DYNAMIC = ("motion", "direction", "speed")

_VALUES = {
    "motion": MOTIONS,
    "shape": SHAPES,
    "colour": tuple(COLOURS),
    "count": (1, 2, 3),
    "size": ("small", "large"),
    "texture": TEXTURES,
    "background": tuple(BACKGROUNDS),
    "next_background": tuple(BACKGROUNDS),
    "bystander_shape": SHAPES,
    "bystander_colour": tuple(COLOURS),
    "speed": tuple(SPEEDS),
}

# A moving object mostly changes direction or speed and stays a `moves`; so fewer of the other motions may turn into
# one, or the word alone would give the label away.
_FREQUENCIES = {"motion": MOTION_WEIGHTS | {"moves": 20}, "count": COUNT_WEIGHTS}


def perturb(description: Description, attributes: tuple[str, ...], rng: random.Random) -> tuple[Description, str]:
    """Change one of `attributes` that the description states to another value; returns it and the attribute's name.

    The changed description could be true of another event, and values are as frequent as in the demo, so that words
    alone betray little.
    """
    stated = [name for name in attributes if description[name] is not None]
    for name in rng.sample(stated, len(stated)):
        options = [other for other in _alternatives(description, name, rng) if possible(other)]
        if options:
            weights = [_FREQUENCIES.get(name, {}).get(other[name], 1) for other in options]
            return rng.choices(options, weights)[0], name
    raise ValueError(f"nothing of {', '.join(attributes)} can be changed in {description}")


def possible(description: Description) -> bool:
    """Whether the demo has events of which the description is true."""
    stated = description
    pairs = [(stated["colour"], stated["background"]), (stated["colour"], stated["next_background"])]
    pairs += [(stated["bystander_colour"], stated["background"])] if stated["motion"] == "meets" else []
    return not (
        any(pair in HIDDEN for pair in pairs)
        or (stated["background"] and stated["background"] == stated["next_background"])
        or stated["shape"] == stated["bystander_shape"]
        or stated["colour"] == stated["bystander_colour"]
        or (stated["count"] == 3 and (stated["size"] == "large" or stated["motion"] in ("grows", "shrinks")))
        or (stated["size"] and stated["motion"] in ("grows", "shrinks"))
        or (stated["motion"] == "meets" and (stated["count"] > 1 or not stated["bystander_shape"]))
    )


def _alternatives(description: Description, name: str, rng: random.Random) -> list[Description]:
    """The description with each other value of attribute `name`. A new motion also gets its direction and speed."""
    values = (
        _VALUES[name] if name != "direction" else TURNS if description["motion"] == "circles" else tuple(DIRECTIONS)
    )
    others = [{**description, name: value} for value in values if value != description[name]]
    if name != "motion":
        return others
    finished = []
    for other in others:
        direction, speed = draw_direction(rng, other["motion"])
        keeps = description["speed"] or rng.random() < 0.75
        size = None if other["motion"] in ("grows", "shrinks") else other["size"]
        finished.append(other | {"size": size, "direction": direction, "speed": speed if keeps else None})
    return finished
