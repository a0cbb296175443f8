"""Candidates that are made false on purpose, so that the evaluator has something to find.

Whether and how a candidate is corrupted is a pure function of the request's seed (which depends on its content) and the
candidate's place. In statics candidates one static attribute is corrupted. Of the corrupted dynamics candidates, 85 %
have a motion, a direction or a speed corrupted, the others a static attribute.
"""

import random

from verified.demo.scene_reader.false_fact import false_fact, stated
from verified.demo.scene_reader.wording import detail
from verified.runtime.seeds import derive_seed

DYNAMIC_SHARE = 0.85
WEIGHTS = {"direction": 3, "speed": 2, "motion": 2}


def corrupt(said: dict, known: dict, branch: str, seed: int, index: int, share: float) -> tuple[dict, dict | None]:
    """The facts that candidate `index` of a branch ("statics" or "dynamics") states, and a note if one is false.

    `known` are all facts at hand, so that a false value is not true after all. The note is
    ``{"candidate": index, "kind": "static" | "dynamic", "changed": {attribute: [true, false]}}``.
    """
    rng = random.Random(derive_seed(seed, "spoiled", index))
    if rng.random() >= share:
        return said, None
    kind = "dynamic" if branch == "dynamics" and rng.random() < DYNAMIC_SHARE else "static"
    names = stated(said, kind)
    name = rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    false, values = false_fact(said, name, rng, known)
    if name == "motion" and branch == "dynamics":
        # The false verb gets the detail that a true one would have: how a caption is worded must not give it away.
        false |= (
            {"extra": rng.choice(("two times", "three times"))} if false["motion"] == "bounces" else detail(false, rng)
        )
    return false, {"candidate": index, "kind": kind, "changed": {name: values}}
