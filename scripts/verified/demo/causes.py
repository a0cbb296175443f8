"""Cause and effect in the demo, by convention, so that questions about causes have a ground truth.

Events are drawn independently. By convention a touch, a bounce or a vanishing sets off the event that begins
within a second of its end (cause and effect), and a straight motion is the means by which the touch or the growth that
follows as soon is reached (means to an end). Any other two events are a sequence. Facts are those of
`verified.demo.caption_facts` and of corpus/truth.jsonl.
"""

from typing import Any

SOON = 1.0
"""Maximal seconds between the end of a cause and the start of its effect."""
CAUSES = ("meets", "bounces", "vanishes")
MEANS = {"moves": ("meets", "grows")}


def relation(first: dict[str, Any], second: dict[str, Any], gap: float) -> str:
    """``cause_effect``, ``means_to_an_end`` or ``sequential``, for two successive events `gap` seconds apart."""
    motion, following = first.get("motion"), second.get("motion")
    if gap > SOON or not following or following == "stays":
        return "sequential"
    if motion in CAUSES:
        return "cause_effect"
    return "means_to_an_end" if motion in MEANS and following in MEANS[motion] else "sequential"
