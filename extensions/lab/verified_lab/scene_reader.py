"""The demo's engine on scenes without moments: coarse captions of clips, the kind of thing that acts, and its verb."""

import random

from verified.demo.scene_reader.dynamics import read_clip
from verified.demo.scene_reader.wording import sentence
from verified.lmm.request import Reply, Request


def coarse_caption(request: Request, rng: random.Random) -> Reply:
    """One clause such as ``two rings shrink``, read from the frames."""
    clip = read_clip(request, {})
    if isinstance(clip, Reply):
        return clip
    facts = {"shape": clip.actor.shape, "count": clip.actor.count, "motion": clip.motion["motion"]}
    return Reply(sentence(facts, rng, plain=True))
