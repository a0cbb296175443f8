"""Shape, size and texture of one object, from its pixels."""

from functools import cache

import cv2
import numpy as np

from verified.demo.scene_reader.segmentation import DARK, Blob

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
    # The outermost pixels mix with the background, so look as far inside as the object allows.
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
