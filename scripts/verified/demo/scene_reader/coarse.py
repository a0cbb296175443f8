"""A coarse caption of a clip of the demo world: the kind of thing that acts, and its verb."""

import random

import numpy as np

from verified.demo.scene_reader.scene import watch
from verified.demo.scene_reader.wording import sentence
from verified.lmm.request import Reply, Request


def coarse_caption(request: Request, rng: random.Random) -> Reply:
    """One clause such as ``two rings shrink``, read from the frames."""
    if request.frames is None or len(request.frames) == 0:
        return Reply("", "error", "media", "needs the frames of a clip")
    frames = np.asarray(request.frames)
    clip = watch(frames, np.asarray(request.frame_times or np.arange(len(frames)) / 8), {})
    if clip is None:
        return Reply("", "error", "nothing-recognised", "no coloured object of the demo world was found in the frames")
    facts = {"shape": clip.actor.shape, "count": clip.actor.count, "motion": clip.motion.motion}
    return Reply(sentence(facts, rng, plain=True))
