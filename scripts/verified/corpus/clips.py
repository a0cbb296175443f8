"""Clips with full true captions from a world apart, straight from the rasteriser, to pre-train the demo's evaluator.

The paper starts from an evaluator pre-trained on 25 million pairs; these clips are the demo's stand-in. Their seeds are
derived under another name than the demo corpus's, so that no video is shared.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from verified.common.seeds import derive_seed
from verified.corpus.full_captions import DYNAMIC, STATIC, describe, disturb, word
from verified.corpus.render import draw_actors, draw_stage, finish
from verified.corpus.world import Event, draw_event, facts

_FPS = 8
"""Rate at which events are laid out; the clip samples them at times of its own."""


class WorldClip(NamedTuple):
    """One event, seen and told."""

    frames: np.ndarray
    """uint8 [frames, size, size, 3], RGB."""
    caption: str
    """True in every word."""
    static_disturbed: str
    """The same sentence with one static attribute falsified."""
    dynamic_disturbed: str
    """The same sentence with motion, direction or speed falsified."""
    changed: tuple[str, str]
    """Names of the falsified static and dynamic attribute."""


def separate_world_clips(seed: int, count: int, frames: int = 8, size: int = 64, first: int = 0) -> Iterator[WorldClip]:
    """Yield clips `first` to `first + count` of the separate world of `seed`.

    A clip depends on the seed and its number only, so that any slice can be drawn by itself. Its frames are the middles
    of `frames` equal parts of the event; the picture is `size` pixels wide and high (16 or more).
    """
    for number in range(first, first + count):
        yield _clip(derive_seed(seed, "separate world", number), frames, size)


def _clip(seed: int, frames: int, size: int) -> WorldClip:
    rng = random.Random(seed)
    event = draw_event(rng, 0, 10 * _FPS, _FPS)
    said = describe(facts(event, _FPS), rng)
    style = rng.getrandbits(32)
    static, static_name = disturb(said, STATIC, rng)
    dynamic, dynamic_name = disturb(said, DYNAMIC, rng)
    return WorldClip(
        sample_event(event, frames, size, rng),
        word(said, style),
        word(static, style),
        word(dynamic, style),
        (static_name, dynamic_name),
    )


def sample_event(event: Event, frames: int, size: int, rng: random.Random) -> np.ndarray:
    """uint8 [frames, size, size, 3]: the event at the middles of `frames` equal parts."""
    times = event.first / _FPS + (np.arange(frames) + 0.5) * ((event.last - event.first) / _FPS / frames)
    canvas = np.empty((frames, size, size, 3), np.float32)
    for scene in event.scenes:
        seen = np.flatnonzero((times >= scene.first / _FPS) & (times < scene.last / _FPS))
        if len(seen):
            draw_stage(canvas[seen[0] : seen[-1] + 1], scene, times[seen] - scene.first / _FPS)
    draw_actors(canvas, event, times - event.first / _FPS)
    return finish(canvas, rng)
