"""From one frame to the coloured things in it: backgrounds and colours by name, patches of one colour, and each one's
shape, size and texture.

Every frame is first given a background (the nearest of six mean colours to its median pixel); a table per background
then maps a quantised RGB value to "background" or to the nearest object colour together with its brightness. The tables
are pure constants, so a clip of T frames costs one look-up per pixel.
"""

import dataclasses
import itertools
from functools import cache

import cv2
import numpy as np

from verified.demo.shapes import BACKGROUNDS, COLOURS

COLOUR_NAMES, BACKGROUND_NAMES = tuple(COLOURS), tuple(BACKGROUNDS)
DARKEST = 0.35
"""Brightness of stripes and dots relative to the object's colour."""
CONTRAST = {"sky": 95.0}
"""Least RGB distance of an object's pixel from the background; the night sky's stars are bright, objects brighter."""
DEFAULT_CONTRAST = 48.0
BITS = 5


def name_backgrounds(frames: np.ndarray) -> list[str]:
    """The background of each frame, uint8 RGB [T, H, W, 3], by the median of every fourth pixel both ways."""
    medians = np.median(frames[:, 1::4, 1::4].reshape(len(frames), -1, 3), axis=1)
    nearest = np.argmin(np.linalg.norm(medians[:, None] - np.array(list(BACKGROUNDS.values())), axis=2), axis=1)
    return [BACKGROUND_NAMES[index] for index in nearest]


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


MIN_AREA = 30
"""Smaller patches are stars of the night sky or noise, in pixels."""
DARK = 62
"""Brightness below which a pixel belongs to a stripe or dot, in percent of the object's colour."""
ELONGATED = 1.5
"""A patch longer than this many times its width is a row of touching objects."""
BRIDGE = np.ones((3, 1), np.uint8)
CORE = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))


@dataclasses.dataclass(frozen=True, eq=False)
class Blob:
    """One object in one frame: its colour, the middle of its outline and its pixels.

    `mask` is its outline within the bounding box, filled, uint8 0/1 [h, w]; `visible` its pixels that differ from the
    background; `brightness` the same box in percent of the colour, uint8 [h, w]. Lengths are pixels, (left, top) is the
    box's corner.
    """

    colour: str
    left: int
    top: int
    mask: np.ndarray
    visible: np.ndarray
    brightness: np.ndarray

    @property
    def width(self) -> int:
        return self.mask.shape[1]

    @property
    def height(self) -> int:
        return self.mask.shape[0]

    @property
    def x(self) -> float:
        return self.left + (self.width - 1) / 2

    @property
    def y(self) -> float:
        return self.top + (self.height - 1) / 2


def groups_in(frames: np.ndarray) -> tuple[list[str], list[dict[str, list[Blob]]]]:
    """The background of each frame, uint8 RGB [T, H, W, 3], and its objects by colour."""
    backgrounds = name_backgrounds(frames)
    by_frame: list[dict[str, list[Blob]]] = []
    for frame, background in zip(frames, backgrounds):
        groups: dict[str, list[Blob]] = {}
        for blob in find_blobs(frame, background):
            groups.setdefault(blob.colour, []).append(blob)
        by_frame.append(groups)
    return backgrounds, by_frame


def find_blobs(frame: np.ndarray, background: str) -> list[Blob]:
    """Objects of a uint8 RGB frame [H, W, 3] before the named background, from left to right."""
    label, brightness = label_pixels(frame, background)
    solid = (label > 0).astype(np.uint8)
    if background == "sky":
        # A dark stripe cannot be distinguished from the night: bridge it where it nearly cuts a small object in two.
        solid = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, BRIDGE)
    brightness[label == 0] = 35
    count, patches, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    blobs = []
    for index in range(1, count):
        left, top, width, height, area = (int(value) for value in stats[index])
        if area < MIN_AREA:
            continue
        box = np.s_[top : top + height, left : left + width]
        mask = (patches[box] == index).astype(np.uint8)
        for colour, part in split_colours(mask, label[box], brightness[box]):
            for piece in split_row(part):
                blobs.append(_blob(colour, piece, left, top, label[box], brightness[box]))
    return sorted((blob for blob in blobs if blob.mask.sum() >= MIN_AREA), key=lambda blob: (blob.left, blob.top))


def _blob(colour: str, mask: np.ndarray, left: int, top: int, label: np.ndarray, brightness: np.ndarray) -> Blob:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    visible = mask[box] * (label[box] > 0)
    return Blob(colour, left + int(columns[0]), top + int(rows[0]), fill_holes(mask[box]), visible, brightness[box])


def fill_holes(mask: np.ndarray) -> np.ndarray:
    """`mask` [H, W] without its holes: a ring's, or dots that look like the background."""
    framed = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT)
    cv2.floodFill(framed, None, (0, 0), 2)
    return (framed[1:-1, 1:-1] != 2).astype(np.uint8)


def split_colours(mask: np.ndarray, label: np.ndarray, brightness: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The colour of a patch, or two colours with a mask [H, W] each when two objects touch.

    Outline pixels mix with the background and may look like another colour; they surround the object, so a second
    colour is believed only where its pixels are apart from those of the first.
    """
    inner = cv2.erode(mask, CORE, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    if inner.sum() < MIN_AREA // 2:
        inner = mask
    bright = (inner > 0) & (brightness >= DARK) & (label > 0)
    if not bright.any():
        bright = (mask > 0) & (label > 0)
    votes = np.bincount(label[bright], minlength=len(COLOUR_NAMES) + 1)[1:]
    first, second = (int(index) for index in np.argsort(-votes, kind="stable")[:2])
    if votes[second] >= max(12, 0.15 * votes.sum()):
        cores = [(bright & (label == index + 1)).astype(np.uint8) for index in (first, second)]
        centres = [np.argwhere(core).mean(axis=0) for core in cores]
        if np.linalg.norm(centres[0] - centres[1]) > 6:
            far = [cv2.distanceTransform(1 - core, cv2.DIST_L2, 3) for core in cores]
            nearer = far[0] <= far[1]
            return [
                (COLOUR_NAMES[first], mask * nearer.astype(np.uint8)),
                (COLOUR_NAMES[second], mask * (~nearer).astype(np.uint8)),
            ]
    return [(COLOUR_NAMES[first], mask)]


def split_row(mask: np.ndarray) -> list[np.ndarray]:
    """Cut a patch [H, W] that is much longer than wide into equal pieces along its length."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return []
    height, width = rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
    longer, shorter = max(height, width), min(height, width)
    if longer < ELONGATED * shorter or shorter < 6:
        return [mask]
    pieces = 1 + round((longer - shorter) / (shorter + 3))  # neighbours are a few pixels apart
    edges = np.rint(np.linspace(0, longer, pieces + 1)).astype(int) + (rows[0] if height > width else columns[0])
    parts = []
    for low, high in itertools.pairwise(edges):
        part = np.zeros_like(mask)
        box = np.s_[low:high, :] if height > width else np.s_[:, low:high]
        part[box] = mask[box]
        if part.any():
            parts.append(part)
    return parts


GRID = 24
OUTLINES = ("ball", "box", "triangle", "star", "cross")
REACH = {"ball": 2.0, "box": 1.72, "triangle": 1.99, "star": 2.28, "ring": 2.0, "cross": 2.0}
"""Width of each shape in radii."""
LARGE = 12.0
"""Radius in pixels at 112 pixels' frame width from which an object is large."""


@cache
def templates() -> np.ndarray:
    """Coverage of each shape's bounding box, float [5, GRID, GRID], in the order of OUTLINES."""
    fine = GRID * 8
    y, x = (np.mgrid[0:fine, 0:fine] + 0.5) * 2 / fine - 1
    angle = np.arange(10) * np.pi / 5
    radius = np.where(np.arange(10) % 2 == 0, 1.2, 0.52)
    points = np.stack([radius * np.sin(angle), -radius * np.cos(angle)], axis=1)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0) * fine
    star = np.zeros((fine, fine), np.uint8)
    cv2.fillPoly(star, [np.rint(points).astype(np.int32)], 1)
    distance = np.hypot(x, y)
    masks = [
        distance <= 1,
        np.ones_like(distance, dtype=bool),
        np.abs(x) <= (y + 1) / 2,
        star > 0,
        (np.abs(x) <= 0.36) | (np.abs(y) <= 0.36),
    ]
    return np.stack([mask.reshape(GRID, 8, GRID, 8).mean(axis=(1, 3)) for mask in masks])


def name_shape(blob: Blob) -> str:
    """The shape whose outline fits best; a ball that is open in the middle is a ring."""
    how = cv2.INTER_AREA if min(blob.mask.shape) > GRID else cv2.INTER_LINEAR
    square = cv2.resize(blob.mask.astype(np.float32), (GRID, GRID), interpolation=how)
    shape = OUTLINES[int(np.abs(square[None] - templates()).mean(axis=(1, 2)).argmin())]
    return "ring" if shape in ("ball", "box") and is_open(blob) else shape


def is_open(blob: Blob) -> bool:
    """Whether the middle shows the background where the sides, in the same rows, do not; stripes run through both."""
    y, x = np.mgrid[0 : blob.height, 0 : blob.width]
    x, y = np.abs(2 * x + 1 - blob.width) / blob.width, np.abs(2 * y + 1 - blob.height) / blob.height
    middle, sides = blob.visible[(x < 0.3) & (y < 0.3)].mean(), blob.visible[(x > 0.6) & (x < 0.9) & (y < 0.3)].mean()
    return bool(middle < 0.45 * sides)


def radius(blob: Blob, shape: str) -> float:
    """Radius in pixels of an object of known shape."""
    return max(blob.width, blob.height) / REACH[shape]


def name_texture(blob: Blob, shape: str) -> str:
    """``plain``, ``striped`` (brightness changes from row to row only) or ``dotted``."""
    mask = blob.mask
    if shape == "ring":
        y, x = np.mgrid[0 : blob.height, 0 : blob.width]
        hole = np.hypot((2 * x + 1) / blob.width - 1, (2 * y + 1) / blob.height - 1) < 0.56
        mask = mask * (~hole).astype(np.uint8)
    # The outermost pixels mix with the background, so use pixels as far inside as the object allows.
    depth = cv2.distanceTransform(cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT), cv2.DIST_L2, 3)[1:-1, 1:-1]
    inner = next((depth > least for least in (2.5, 1.9, 1.2) if (depth > least).sum() >= 24), mask > 0)
    values = np.minimum(blob.brightness[inner].astype(np.float64), 100)
    if np.mean(values < DARK + 15) < 0.08:
        return "plain"
    rows = np.nonzero(inner)[0]
    count = np.bincount(rows)
    mean = np.bincount(rows, weights=values) / np.maximum(count, 1)
    explained = (count * (mean - values.mean()) ** 2).sum() / max(((values - values.mean()) ** 2).sum(), 1e-9)
    return "striped" if explained > 0.6 else "dotted"
