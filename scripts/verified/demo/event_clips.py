"""Clips of single events straight from the rasteriser, without a video file between."""

import random

import numpy as np

from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.world import Event

_FPS = 8
"""Rate at which events are laid out; the clip samples them at times of its own."""


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
