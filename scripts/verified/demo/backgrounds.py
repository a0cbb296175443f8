"""Backgrounds of the demo: low-contrast patterns that repeat after one width, so that a pan can scroll."""

from functools import lru_cache

import numpy as np

from verified.demo.vocabulary import BACKGROUNDS, EXTENT

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
    """Background `name` as float32 [size, size, 3] in 0..255; it repeats seamlessly from left to right."""
    steps = (np.arange(size * _OVERSAMPLING) + 0.5) * (EXTENT / (size * _OVERSAMPLING))
    x, y = np.meshgrid(steps, steps)
    fine = _PATTERNS[name](x, y).reshape(size, _OVERSAMPLING, size, _OVERSAMPLING)
    tile = np.asarray(BACKGROUNDS[name], np.float32) + fine.mean(axis=(1, 3))[..., None].astype(np.float32)
    tile.setflags(write=False)
    return tile
