"""Paths in the demo: where a group of actors is, how large, and whether it is there, at any time of its event."""

import math
import random
from dataclasses import dataclass, replace

import numpy as np

from verified.demo.shapes import BYSTANDER_RADII, DIRECTIONS, EXTENT, RADII, REACH, SPEEDS, TURNS, contact_distance

MARGIN = 2.0
"""Margin at the border of the picture, in scene units."""
GAP = 5.0
"""Scene units between the actors of a group, beyond their two radii."""


@dataclass(frozen=True)
class Path:
    """The motion of a group's middle. Lengths in scene units, times in seconds from the start of the event."""

    motion: str
    seconds: float
    x: float
    y: float
    radius: float
    final_radius: float
    velocity: tuple[float, float] = (0.0, 0.0)
    moving_seconds: float = 0.0
    hop: float = 0.0
    hops: int = 0
    orbit: float = 0.0
    start_angle: float = 0.0
    turns: float = 0.0


@dataclass(frozen=True)
class Placed:
    """A path, the words that are true of it, and the offsets of the actors from the group's middle."""

    path: Path
    size: str | None
    direction: str | None
    speed: str | None
    offsets: tuple[tuple[float, float], ...]
    target: tuple[float, float, float] | None = None
    """Middle and radius of the bystander that a `meets` ends at."""


def positions(path: Path, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x, y, radius (float64) and presence (bool), [...] each, at `times` [...] (seconds) of the event."""
    moved = np.minimum(times, path.moving_seconds)
    x = path.x + path.velocity[0] * moved
    y = path.y + path.velocity[1] * moved
    share = times / path.seconds
    if path.hops:
        y = y - path.hop * np.abs(np.sin(math.pi * path.hops * share))
    if path.orbit:
        angle = path.start_angle + 2 * math.pi * path.turns * share
        x, y = x + path.orbit * np.cos(angle), y + path.orbit * np.sin(angle)
    radius = path.radius + (path.final_radius - path.radius) * share
    present = np.ones(np.shape(times), bool)
    if path.motion == "appears":
        present = share >= 0.5
    elif path.motion == "vanishes":
        present = share < 0.5
    return x, y, radius, present


def swept_box(placed: Placed) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of everything the group covers during its event."""
    x, y, _, _ = positions(placed.path, np.linspace(0, placed.path.seconds, 65))
    reach = REACH * max(placed.path.radius, placed.path.final_radius)
    across = max(abs(dx) for dx, _ in placed.offsets) + reach
    along = max(abs(dy) for _, dy in placed.offsets) + reach
    return x.min() - across, y.min() - along, x.max() + across, y.max() + along


def draw_direction(rng: random.Random, motion: str) -> tuple[str | None, str | None]:
    """Direction and speed of a motion, None where the motion has none."""
    if motion in ("moves", "meets"):
        return rng.choice(tuple(DIRECTIONS)), rng.choice(tuple(SPEEDS))
    return (rng.choice(TURNS) if motion == "circles" else None), None


def place_group(rng: random.Random, group: dict, seconds: float, target: str) -> Placed | None:
    """Draw a path for the group that stays in view for `seconds`; None if the drawn path does not fit.

    `group` has its shape, motion, direction, speed (None if the motion has none), count and size. `target` is the
    shape of the bystander, which `meets` needs to know when the outlines touch.
    """
    motion, direction, size = group["motion"], group["direction"], group["size"]
    radius = rng.uniform(*RADII[size])
    path = Path(motion, seconds, 0.0, 0.0, radius, radius)
    if motion in ("moves", "meets"):
        moving = seconds if motion == "moves" else 0.75 * seconds
        rate = rng.uniform(*SPEEDS[group["speed"]])
        dx, dy = DIRECTIONS[direction]
        velocity = (dx * rate, dy * rate)
        path = replace(path, velocity=velocity, moving_seconds=moving)
    elif motion in ("grows", "shrinks"):
        small, large = rng.uniform(*RADII["small"]), rng.uniform(*RADII["large"])
        first, last = (small, large) if motion == "grows" else (large, small)
        path = replace(path, radius=first, final_radius=last)
        size = None
    elif motion == "bounces":
        path = replace(path, hop=rng.uniform(20, 28), hops=2 if seconds < 3.25 else 3)
    elif motion == "circles":
        # y points down, so a growing angle is seen as clockwise.
        turns = 1.25 if direction == "clockwise" else -1.25
        path = replace(path, orbit=rng.uniform(14, 20), start_angle=rng.uniform(0, 2 * math.pi), turns=turns)

    pitch = 2 * max(path.radius, path.final_radius) + GAP
    steps = [(index - (group["count"] - 1) / 2) * pitch for index in range(group["count"])]
    sideways = direction in ("left", "right")
    offsets = tuple((0.0, step) if sideways else (step, 0.0) for step in steps)
    placed = Placed(path, size, direction, group["speed"], offsets)
    return _add_target(rng, placed, group["shape"], target) if motion == "meets" else _move_into_view(rng, placed)


def _move_into_view(rng: random.Random, placed: Placed, extra: tuple[float, float, float, float] = (0, 0, 0, 0)):
    """Shift the path (which starts at the origin) to a random place in view, together with the box `extra`."""
    box = swept_box(placed)
    left, top = min(box[0], extra[0]), min(box[1], extra[1])
    right, bottom = max(box[2], extra[2]), max(box[3], extra[3])
    room = EXTENT - 2 * MARGIN
    if right - left > room or bottom - top > room:
        return None
    x = rng.uniform(MARGIN - left, EXTENT - MARGIN - right)
    y = rng.uniform(MARGIN - top, EXTENT - MARGIN - bottom)
    return replace(placed, path=replace(placed.path, x=x, y=y))


def _add_target(rng: random.Random, placed: Placed, shape: str, target: str) -> Placed | None:
    radius = rng.uniform(*BYSTANDER_RADII)
    path = placed.path
    direction = str(placed.direction)  # only `meets` has a target
    dx, dy = DIRECTIONS[direction]
    travelled = path.moving_seconds * (abs(path.velocity[0]) + abs(path.velocity[1]))
    distance = travelled + contact_distance(shape, path.radius, target, radius, direction)
    middle, reach = (dx * distance, dy * distance), REACH * radius
    extra = (middle[0] - reach, middle[1] - reach, middle[0] + reach, middle[1] + reach)
    moved = _move_into_view(rng, placed, extra)
    return moved and replace(moved, target=(moved.path.x + middle[0], moved.path.y + middle[1], radius))
