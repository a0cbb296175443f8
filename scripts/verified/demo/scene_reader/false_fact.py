"""One fact made false: for captions that are corrupted on purpose and for perturbed captions."""

import random

from verified.demo.scene_reader.wording import ALL

STATIC = ("colour", "shape", "size", "texture", "count", "background")
DYNAMIC = ("motion", "direction", "speed")
TURNS = ("clockwise", "anticlockwise")
WAYS = ("left", "right", "up", "down")
OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}
MOTIONS = ("moves", "grows", "shrinks", "bounces", "circles", "appears", "vanishes", "stays")


def stated(facts: dict, kind: str) -> list[str]:
    """Attributes of a kind ("static" or "dynamic") that `facts` state."""
    names = STATIC if kind == "static" else DYNAMIC
    return [name for name in names if facts.get("backgrounds" if name == "background" else name)]


def false_fact(facts: dict, name: str, rng: random.Random, known: dict | None = None) -> tuple[dict, list]:
    """A copy of `facts` in which attribute `name` has another value, and [true value, false value].

    A new motion takes a direction of its own if it needs one, and drops what no longer applies. The new value is never
    that of the bystander or of another background in `known` (by default `facts`; it may hold more than `facts` say):
    the sentence would be absurd or true after all.
    """
    known = known or facts
    if name == "motion":
        return _other_motion(facts, rng)
    if name == "direction":
        old = facts["direction"]
        if old in TURNS:
            new = TURNS[1 - TURNS.index(old)]
        else:
            new = OPPOSITE[old] if rng.random() < 0.6 else rng.choice([way for way in WAYS if way != old])
        return facts | {"direction": new}, [old, new]
    if name == "background":
        backgrounds = facts["backgrounds"]
        new = rng.choice(
            [value for value in ALL["background"] if value not in (*backgrounds, *known.get("backgrounds", ()))]
        )
        return facts | {"backgrounds": [new, *backgrounds[1:]]}, [backgrounds[0], new]
    old = facts[name]
    taken = {old, (known.get("bystander") or {}).get(name)}
    new = rng.choice([value for value in ALL[name] if value not in taken])
    return facts | {name: new}, [old, new]


def _other_motion(facts: dict, rng: random.Random) -> tuple[dict, list]:
    old = facts["motion"]
    # A thing that meets another also moves, so "moves" would not be false of it.
    new = rng.choice([motion for motion in MOTIONS if motion != old and not (old == "meets" and motion == "moves")])
    changed = {key: value for key, value in facts.items() if key not in ("direction", "speed", "extra")}
    changed["motion"] = new
    if new == "moves":
        changed |= {"direction": rng.choice(WAYS)} | ({"speed": facts["speed"]} if facts.get("speed") else {})
    elif new == "circles":
        changed["direction"] = rng.choice(TURNS)
    return changed, [old, new]
