"""The things of the demo: their shapes, colours, measures and words, and the shapes' outlines.

An outline is a signed distance: radius 1, around the origin, y points down.
"""

import math
from functools import cache

import numpy as np

EXTENT = 112.0

SHAPES = ("ball", "box", "triangle", "star", "ring", "cross")

COLOURS = {
    "red": (220, 40, 40),
    "orange": (245, 140, 20),
    "yellow": (240, 220, 40),
    "green": (40, 170, 60),
    "blue": (40, 80, 220),
    "purple": (140, 50, 180),
    "pink": (250, 130, 190),
    "white": (245, 245, 245),
}

BACKGROUNDS = {
    "wall": (118, 124, 136),
    "sky": (18, 20, 44),
    "sand": (205, 175, 125),
    "field": (30, 75, 35),
    "bricks": (130, 70, 55),
    "water": (120, 185, 215),
}

HIDDEN = {("green", "field"), ("red", "bricks"), ("yellow", "sand")}
"""Pairs of colour and background that are too close to tell apart."""

RADII = {"small": (7.0, 9.0), "large": (15.0, 18.0)}
BYSTANDER_RADII = (9.0, 11.0)

TEXTURES = ("plain", "striped", "dotted")

SPEEDS = {"slow": (9.0, 13.0), "fast": (24.0, 32.0)}
"""Scene units per second."""

DIRECTIONS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, -1.0), "down": (0.0, 1.0)}
OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}
TURNS = ("clockwise", "anticlockwise")

MOTIONS = ("moves", "meets", "grows", "shrinks", "bounces", "circles", "appears", "vanishes", "stays")

NAMES = {
    "wall": "a grey wall",
    "sky": "the night sky",
    "sand": "a sandy floor",
    "field": "a green field",
    "bricks": "a brick wall",
    "water": "light blue water",
}
"""Backgrounds in words."""


def plural(noun: str) -> str:
    return noun + ("es" if noun in ("box", "cross") else "s")


def article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


REACH = 1.2
"""No shape of radius 1 extends beyond this along x or y."""

_STAR_OUTER, _STAR_INNER = 1.2, 0.52
_TRIANGLE_INRADIUS = 1.15 / 2


def _ball(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.hypot(x, y) - 1.0


def _box(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(x), np.abs(y)) - 0.86


def _triangle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(y, math.cos(math.pi / 6) * np.abs(x) - 0.5 * y) - _TRIANGLE_INRADIUS


def _star(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # In float64: NumPy's functions of angles in float32 differ between processors in bits that pixels show.
    right, down = x.astype(np.float64), y.astype(np.float64)
    # Fold the plane into the tenth between a point (angle 0) and the next dent (36 degrees): one edge remains.
    angle = np.abs((np.arctan2(right, -down) + math.pi / 5) % (2 * math.pi / 5) - math.pi / 5)
    distance = np.hypot(right, down)
    dent_x, dent_y = _STAR_INNER * math.cos(math.pi / 5), _STAR_INNER * math.sin(math.pi / 5)
    edge_x, edge_y = dent_x - _STAR_OUTER, dent_y
    length = math.hypot(edge_x, edge_y)
    signed = (edge_y * (distance * np.cos(angle) - _STAR_OUTER) - edge_x * distance * np.sin(angle)) / length
    return signed.astype(x.dtype)


def _ring(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(np.hypot(x, y) - 0.76) - 0.24


def _cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    across, along = np.abs(x), np.abs(y)
    return np.minimum(np.maximum(across - 1.0, along - 0.36), np.maximum(along - 1.0, across - 0.36))


_OUTLINES = {"ball": _ball, "box": _box, "triangle": _triangle, "star": _star, "ring": _ring, "cross": _cross}


def signed_distance(shape: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance [...] from the points x, y [...] to the outline of `shape` with radius 1; negative inside.

    Exact near edges and inside; a lower bound beyond corners, which is all that antialiasing needs.
    """
    return _OUTLINES[shape](x, y)


@cache
def _profile(shape: str, direction: str) -> np.ndarray:
    """Extent of `shape` towards `direction` in 241 lines from -1.2 to 1.2 across it (-inf where a line misses it)."""
    across, along = np.meshgrid(np.linspace(-REACH, REACH, 241), np.linspace(-REACH, REACH, 481), indexing="ij")
    dx, dy = DIRECTIONS[direction]
    inside = signed_distance(shape, dx * along + abs(dy) * across, dy * along + abs(dx) * across) <= 0
    return np.where(inside, along, -np.inf).max(axis=1)


def contact_distance(mover: str, radius: float, target: str, target_radius: float, direction: str) -> float:
    """Distance of the two centres, on one line, at which `mover` coming along `direction` touches `target`."""
    lines = np.linspace(-REACH, REACH, 241)
    limit = min(radius, target_radius) * REACH
    sample = np.linspace(-limit, limit, 161)
    front = radius * np.interp(sample / radius, lines, np.nan_to_num(_profile(mover, direction), neginf=-9.0))
    back = target_radius * np.interp(
        sample / target_radius, lines, np.nan_to_num(_profile(target, OPPOSITE[direction]), neginf=-9.0)
    )
    return float((front + back).max())
