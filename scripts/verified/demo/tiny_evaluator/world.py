"""Items of the separate synthetic corpus for pre-training: one event with its true caption and corrupted ones."""

import random
from dataclasses import dataclass

import numpy as np

from verified.demo.event_clips import sample_event
from verified.demo.full_captions import DYNAMIC, STATIC, Description, describe, perturb, word
from verified.demo.world import draw_event, facts
from verified.runtime.seeds import derive_seed

FPS = 8
LONGEST = 10 * FPS
"""Frames within which an event must end; events are at most 4.5 s long."""


@dataclass(frozen=True)
class WorldItem:
    """frames: uint8 [T, size, size, 3]. static, dynamic: corrupted captions, each in one respect, the same wording
    otherwise."""

    frames: np.ndarray
    caption: str
    static: list[str]
    dynamic: list[str]


def world_item(seed: int, number: int, frames: int, size: int, perturbed: int) -> WorldItem:
    """Item `number` of the synthetic corpus of `seed`, with `perturbed` captions of each kind; depends on nothing else.

    The seed is derived under another name than the demo corpus's, so that no event is shared with it.
    """
    rng = random.Random(derive_seed(seed, "separate world of the evaluator", number))
    event = draw_event(rng, 0, LONGEST, FPS)
    description = describe(facts(event, FPS), rng)
    style = rng.getrandbits(32)
    static, dynamic = (_corrupt(description, kind, perturbed, style, rng) for kind in (STATIC, DYNAMIC))
    pictures = sample_event(event, frames, size, rng)
    return WorldItem(pictures, word(description, style), static, dynamic)


def _corrupt(description: Description, kind: tuple[str, ...], count: int, style: int, rng: random.Random) -> list[str]:
    """`count` captions, each false in one attribute of `kind`, as many different attributes as there are."""
    names = [name for name in kind if getattr(description, name) is not None]
    rng.shuffle(names)
    captions: list[str] = []
    for name in names:
        try:
            captions.append(word(perturb(description, (name,), rng)[0], style))
        except ValueError:  # the attribute has no other value
            continue
        if len(captions) == count:
            return captions
    while len(captions) < count:
        captions.append(word(perturb(description, kind, rng)[0], style))
    return captions
