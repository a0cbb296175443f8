"""Single frames of the separate synthetic corpus with what is true of them, as an image classifier is trained on.

The seed is derived under a name of its own, so that no event is shared with the demo corpus or with the evaluator's
pre-training.
"""

import random

import numpy as np

from verified.demo.motion import positions
from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.shapes import BACKGROUNDS, COLOURS, EXTENT, SHAPES, TEXTURES
from verified.demo.world import Event, Scene, draw_event
from verified.runtime.seeds import derive_seed

FPS = 8
LONGEST = 10 * FPS
"""Frames within which an event must end."""
GRID = 7
"""The place of the actors is one of GRID × GRID cells of the picture."""
UNKNOWN = -100
"""The class of what cannot be seen; torch's cross entropy leaves it out."""
CLASSES = {
    "shape": len(SHAPES),
    "colour": len(COLOURS),
    "texture": len(TEXTURES),
    "count": 3,
    "size": 2,
    "cell": GRID**2,
    "background": len(BACKGROUNDS),
    "bystander_shape": len(SHAPES) + 1,
    "bystander_colour": len(COLOURS) + 1,
}
"""Label → number of classes; a bystander's last class says that there is none."""


def labelled_frame(seed: int, number: int, size: int) -> tuple[np.ndarray, dict[str, int]]:
    """Frame `number`, uint8 [size, size, 3] RGB, and its classes by label; depends on nothing else."""
    rng = random.Random(derive_seed(seed, "labelled frames of the separate world", number))
    event = draw_event(rng, 0, LONGEST, FPS)
    time = rng.uniform(0.02, 0.98) * (event.last - event.first) / FPS
    scene = next(scene for scene in reversed(event.scenes) if scene.first / FPS <= event.first / FPS + time)
    canvas = np.empty((1, size, size, 3), np.float32)
    draw_stage(canvas, scene, np.array([time - (scene.first - event.first) / FPS]))
    draw_actors(canvas, event, np.array([time]))
    return finish(canvas, rng)[0], {**_actors(event, time), **_stage(scene)}


def _actors(event: Event, time: float) -> dict[str, int]:
    x, y, _, present = positions(event.placed.path, np.array([time]))
    if not present[0]:
        return dict.fromkeys(("shape", "colour", "texture", "count", "size", "cell"), UNKNOWN)
    middle = np.mean(event.placed.offsets, axis=0) + np.array([x[0], y[0]])
    column, row = np.clip((middle * GRID / EXTENT).astype(int), 0, GRID - 1)
    return {
        "shape": SHAPES.index(event.shape),
        "colour": list(COLOURS).index(event.colour),
        "texture": TEXTURES.index(event.texture),
        "count": event.count - 1,
        "size": UNKNOWN if event.placed.size is None else int(event.placed.size == "large"),
        "cell": int(row * GRID + column),
    }


def _stage(scene: Scene) -> dict[str, int]:
    beside = scene.bystander
    return {
        "background": list(BACKGROUNDS).index(scene.background),
        "bystander_shape": SHAPES.index(beside.shape) if beside else len(SHAPES),
        "bystander_colour": list(COLOURS).index(beside.colour) if beside else len(COLOURS),
    }
