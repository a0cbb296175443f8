"""Facts made false on purpose: in perturbed captions, and in some candidates, so that the evaluator has something to
find.

Whether and how a candidate is corrupted is a pure function of the request's seed (which depends on its content) and the
candidate's place. In statics candidates one static attribute is corrupted. Of the corrupted dynamics candidates, 85 %
have a motion, a direction or a speed corrupted, the others a static attribute.
"""

import random
from collections.abc import Callable

from verified.demo.scene_reader.wording import ALL, detail, in_manner_of
from verified.demo.shapes import DIRECTIONS, MOTIONS, OPPOSITE, TURNS
from verified.lmm.request import Request
from verified.runtime.seeds import derive_seed

STATIC = ("colour", "shape", "size", "texture", "count", "background")
DYNAMIC = ("motion", "direction", "speed")
WAYS = tuple(DIRECTIONS)


def stated(facts: dict, kind: str) -> list[str]:
    """Attributes of a kind ("static" or "dynamic") that `facts` state."""
    names = STATIC if kind == "static" else DYNAMIC
    return [name for name in names if facts.get("backgrounds" if name == "background" else name)]


def false_fact(facts: dict, name: str, rng: random.Random, truth: dict | None = None) -> tuple[dict, list]:
    """A copy of `facts` in which attribute `name` has another value, and [true value, false value].

    A new motion gets a direction if it needs one, and loses attributes that no longer apply. The new value is never
    that of the bystander or of another background in `truth` (by default `facts`; it may hold more than `facts` say):
    the sentence would be absurd or true after all.
    """
    truth = truth or facts
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
            [value for value in ALL["background"] if value not in (*backgrounds, *truth.get("backgrounds", ()))]
        )
        return facts | {"backgrounds": [new, *backgrounds[1:]]}, [backgrounds[0], new]
    old = facts[name]
    taken = {old, (truth.get("bystander") or {}).get(name)}
    new = rng.choice([value for value in ALL[name] if value not in taken])
    return facts | {name: new}, [old, new]


def _other_motion(facts: dict, rng: random.Random) -> tuple[dict, list]:
    old = facts["motion"]
    # A thing that meets another also moves, so "moves" would not be false of it.
    true = (old, "meets", "moves") if old == "meets" else (old, "meets")
    new = rng.choice([motion for motion in MOTIONS if motion not in true])
    changed = {key: value for key, value in facts.items() if key not in ("direction", "speed", "extra")}
    changed["motion"] = new
    if new == "moves":
        changed |= {"direction": rng.choice(WAYS)} | ({"speed": facts["speed"]} if facts.get("speed") else {})
    elif new == "circles":
        changed["direction"] = rng.choice(TURNS)
    return changed, [old, new]


DYNAMIC_SHARE = 0.85
WEIGHTS = {"direction": 3, "speed": 2, "motion": 2}


def corrupt(chosen: dict, truth: dict, branch: str, seed: int, index: int, share: float) -> tuple[dict, dict | None]:
    """The facts that candidate `index` of a branch ("statics" or "dynamics") states, and a note if one is false.

    `truth` are all available facts, so that a false value is not true after all. The note is ``{"candidate": index,
    "kind": "static" | "dynamic", "changed": {attribute: [true, false]}}``.
    """
    rng = random.Random(derive_seed(seed, "spoiled", index))
    if rng.random() >= share:
        return chosen, None
    kind = "dynamic" if branch == "dynamics" and rng.random() < DYNAMIC_SHARE else "static"
    names = stated(chosen, kind)
    name = rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    false, values = false_fact(chosen, name, rng, truth)
    if name == "motion" and branch == "dynamics":
        # The false verb gets the detail that a true one would have: how a caption is worded must not give it away.
        false |= (
            {"extra": rng.choice(("two times", "three times"))} if false["motion"] == "bounces" else detail(false, rng)
        )
    return false, {"candidate": index, "kind": kind, "changed": {name: values}}


def write_candidates(
    request: Request,
    truth: dict,
    branch: str,
    share: float,
    choose: Callable[[int], dict],
    word: Callable[[dict], str],
) -> tuple[list[str], list[dict]]:
    """Candidates, all different from one another and from the coarse caption, and the notes on false ones.

    `choose` gives the facts that a candidate states, by its number, and `word` words them in another way at each call.
    """
    caption = request.slots["caption"]
    written, notes = [], []
    for index in range(int(request.slots["count"])):
        chosen, note = corrupt(choose(index), truth, branch, request.seed, index, share)
        options = (in_manner_of(word(chosen), caption) for _ in range(30))
        text = next((text for text in options if text not in written and text.lower() != caption.lower()), None)
        if text is None:
            continue
        written.append(text)
        if note:
            notes.append(note | {"candidate": len(written) - 1})
    return written, notes
