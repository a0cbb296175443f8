"""Colours and backgrounds by name: what each pixel of a frame most likely belongs to.

Every frame is first given a background (the nearest of six mean colours to its median pixel); a table per background
then maps a quantised RGB value to "background" or to the nearest object colour together with its brightness. The tables
are pure constants, so a clip of T frames costs one look-up per pixel.
"""

from functools import cache

import numpy as np

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
COLOUR_NAMES, BACKGROUND_NAMES = tuple(COLOURS), tuple(BACKGROUNDS)
DARKEST = 0.35
"""Brightness of stripes and dots relative to the object's colour."""
CONTRAST = {"sky": 95.0}
"""Least RGB distance of an object's pixel from the background; the night sky's stars are bright, objects brighter."""
DEFAULT_CONTRAST = 48.0
BITS = 5


def name_backgrounds(frames: np.ndarray) -> np.ndarray:
    """Index into BACKGROUND_NAMES per frame; `frames` is uint8 RGB [T, H, W, 3]."""
    return np.argmin(np.linalg.norm(medians(frames)[:, None] - np.array(list(BACKGROUNDS.values())), axis=2), axis=1)


def medians(frames: np.ndarray) -> np.ndarray:
    """Median RGB of each frame, from every fourth pixel both ways, as float [T, 3]."""
    sample = frames[:, 1::4, 1::4]
    return np.median(sample.reshape(len(frames), -1, 3), axis=1)


@cache
def tables(background: str) -> tuple[np.ndarray, np.ndarray]:
    """Two look-up tables [levels] over quantised RGB for frames of `background`.

    The first holds 0 for background and 1 + index into COLOUR_NAMES otherwise (uint8); the second the brightness
    relative to that colour, in percent (uint8): about 35 in a stripe or dot, about 100 elsewhere.
    """
    levels = (np.arange(1 << BITS) << (8 - BITS)) + (1 << (7 - BITS))
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3).astype(np.float64)
    colours = np.array(list(COLOURS.values()), dtype=np.float64)
    # Each colour is a line from its darkest shade to its full tone; a pixel belongs to the nearest line.
    scale = np.clip(rgb @ colours.T / (colours**2).sum(axis=1), DARKEST, 1.05)
    distance = np.linalg.norm(rgb[:, None] - scale[:, :, None] * colours[None], axis=2)
    nearest = distance.argmin(axis=1)
    label = (nearest + 1).astype(np.uint8)
    away = np.linalg.norm(rgb - np.array(BACKGROUNDS[background]), axis=1)
    label[away < CONTRAST.get(background, DEFAULT_CONTRAST)] = 0
    return label, np.rint(100 * scale[np.arange(len(rgb)), nearest]).astype(np.uint8)


def label_pixels(frame: np.ndarray, background: str) -> tuple[np.ndarray, np.ndarray]:
    """Colour label and brightness (see `tables`) of each pixel of one frame [H, W, 3], as two uint8 [H, W]."""
    label, brightness = tables(background)
    shift = 8 - BITS
    levels = (frame >> shift).astype(np.uint16)
    index = (levels[..., 0] << (2 * BITS)) | (levels[..., 1] << BITS) | levels[..., 2]
    return label[index], brightness[index]
