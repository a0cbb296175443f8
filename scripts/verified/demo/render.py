"""A rasteriser for the demo: antialiased shapes on patterned backgrounds, and noise.

Backgrounds are low-contrast patterns that repeat after one width, so that a pan can scroll.
"""

import random
from functools import lru_cache

import numpy as np

from verified.demo.motion import positions
from verified.demo.scenes import Event, Scene, pan_velocity
from verified.demo.shapes import BACKGROUNDS, COLOURS, EXTENT, REACH, signed_distance

_OVERSAMPLING = 4


def _wall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(x % 28 < 2, -12.0, 0.0)


def _sky(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    draws = np.random.default_rng(7)
    light = np.zeros_like(x)
    for left, top, glow in zip(draws.uniform(1, 111, 45), draws.uniform(1, 111, 45), draws.uniform(35, 50, 45)):
        light += glow * (np.maximum(np.abs(x - left), np.abs(y - top)) < 0.6)
    return light


def _sand(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 7 * np.sin(2 * np.pi * (x + 0.6 * y) / 14)


def _field(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    blades = np.random.default_rng(11).uniform(-9, 9, (28, 56))
    return blades[(y // 4).astype(int), (x // 2).astype(int)]


def _bricks(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    shifted = x + 8 * (y // 8 % 2)
    return np.where((y % 8 < 1) | (shifted % 16 < 1), 18.0, 0.0)


def _water(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 8 * np.sin(2 * np.pi * (y + 2 * np.sin(2 * np.pi * x / 56)) / 11.2)


_PATTERNS = {"wall": _wall, "sky": _sky, "sand": _sand, "field": _field, "bricks": _bricks, "water": _water}


@lru_cache(maxsize=32)
def background_tile(name: str, size: int) -> np.ndarray:
    """Background `name` as float32 [size, size, 3] in 0..255, periodic from left to right."""
    steps = (np.arange(size * _OVERSAMPLING) + 0.5) * (EXTENT / (size * _OVERSAMPLING))
    x, y = np.meshgrid(steps, steps)
    fine = _PATTERNS[name](x, y).reshape(size, _OVERSAMPLING, size, _OVERSAMPLING)
    tile = np.asarray(BACKGROUNDS[name], np.float32) + fine.mean(axis=(1, 3))[..., None].astype(np.float32)
    tile.setflags(write=False)
    return tile


NOISE = 2.0
"""Standard deviation of the grey noise, in grey levels."""
_NOISE_STEPS = 256
DARK = 0.35
"""Brightness of stripes and dots relative to the object's colour."""


def draw_stage(canvas: np.ndarray, scene: Scene, times: np.ndarray) -> None:
    """Paint a scene onto `canvas` (float32 [frames, size, size, 3]) at `times` (seconds since it began)."""
    size = canvas.shape[1]
    unit = size / EXTENT
    tile = background_tile(scene.background, size)
    shifts = np.round((scene.phase + pan_velocity(scene) * times) * unit).astype(int)
    for frame, shift in zip(canvas, shifts):
        shift %= size
        frame[:, shift:] = tile[:, : size - shift]
        frame[:, :shift] = tile[:, size - shift :]
    if bystander := scene.bystander:
        x, y, radius = np.array([[bystander.x], [bystander.y], [bystander.radius]])
        sprites = _sprites(bystander.shape, bystander.colour, "plain", x, y, radius, size)
        (alpha,), (colour,), ((top,), (left,)) = sprites
        _paste(canvas, alpha, colour, top, left)


def draw_actors(canvas: np.ndarray, event: Event, times: np.ndarray) -> None:
    """Paint the actors onto `canvas` (float32 [frames, size, size, 3]) at `times` (seconds since the event began)."""
    size = canvas.shape[1]
    x, y, radius, present = positions(event.placed.path, times)
    for dx, dy in event.placed.offsets:
        alpha, colour, (top, left) = _sprites(event.shape, event.colour, event.texture, x + dx, y + dy, radius, size)
        for index in np.flatnonzero(present):
            _paste(canvas[index], alpha[index], colour[index], top[index], left[index])


def _paste(canvas: np.ndarray, alpha: np.ndarray, colour: np.ndarray, top: int, left: int) -> None:
    """Paint an object of coverage [k, k, 1] onto `canvas` [..., size, size, 3]."""
    area = canvas[..., top : top + len(alpha), left : left + len(alpha), :]
    area += alpha * (colour - area)


def finish(canvas: np.ndarray, rng: random.Random) -> np.ndarray:
    """Add noise to a canvas [frames, size, size, 3] and round to uint8.

    Each frame sees a window of one fixed field; `rng` draws which.
    """
    size = canvas.shape[1]
    field = _noise_field(size)
    for frame in canvas:
        top, left = rng.randrange(_NOISE_STEPS), rng.randrange(_NOISE_STEPS)
        frame += field[top : top + size, left : left + size]
    canvas += 0.5
    np.clip(canvas, 0, 255, out=canvas)
    return canvas.astype(np.uint8)


@lru_cache(maxsize=4)
def _noise_field(size: int) -> np.ndarray:
    side = size + _NOISE_STEPS
    grey = np.random.default_rng(3).normal(0, NOISE, (side, side, 1)).astype(np.float32)
    return np.repeat(grey, 3, axis=2)


def _sprites(shape: str, colour: str, texture: str, x: np.ndarray, y: np.ndarray, radius: np.ndarray, size: int):
    """Coverage [n, k, k, 1] and colour [n, k, k, 3] of one object at n places, and top and left of their windows."""
    unit = size / EXTENT
    extent = min(size, int(np.ceil(2 * REACH * radius.max() * unit)) + 3)
    corners = [np.clip(np.floor(centre * unit - extent / 2).astype(int), 0, size - extent) for centre in (y, x)]
    steps = np.arange(extent) + 0.5
    scale = radius * unit
    down, right = (
        ((corner[:, None] + steps - (centre * unit)[:, None]) / scale[:, None]).astype(np.float32)
        for corner, centre in zip(corners, (y, x))
    )
    right, down = np.broadcast_arrays(right[:, None, :], down[:, :, None])
    pixels = scale.astype(np.float32)[:, None, None]
    outline = signed_distance(shape, right, down)
    alpha = np.clip(0.5 - outline * pixels, 0, 1)
    fill = np.asarray(COLOURS[colour], np.float32)
    if texture == "plain":
        return alpha[..., None], np.broadcast_to(fill, (len(x), 1, 1, 3)), corners
    # A rim of full colour stays around the texture, so that the outline reads as one shape.
    dark = np.clip(0.5 - np.maximum(_texture_distance(texture, right, down), outline + 0.1) * pixels, 0, 1)
    return alpha[..., None], (1 - (1 - DARK) * dark)[..., None] * fill, corners


def _texture_distance(texture: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Signed distance to the dark parts of a texture on a shape of radius 1."""
    if texture == "striped":
        return np.abs((y / 0.6) % 1 - 0.5) * 0.6 - 0.12
    pitch = 0.62
    row = np.floor(y / pitch + 0.5)
    across = x / pitch + 0.5 * (row % 2)
    return pitch * np.hypot(across - np.floor(across + 0.5), y / pitch - row) - 0.17
