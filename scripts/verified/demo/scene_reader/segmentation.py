"""From one frame to the coloured things in it."""

import dataclasses
import itertools

import cv2
import numpy as np

from verified.demo.scene_reader.palette import COLOUR_NAMES, label_pixels

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

    `mask` is its outline within the bounding box, filled, uint8 0/1 [h, w]; `visible` the pixels of it that differ from
    the background; `brightness` the same box in percent of the colour, uint8 [h, w]. Lengths are pixels, (left, top) is
    the box's corner.
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


def find_blobs(frame: np.ndarray, background: str) -> list[Blob]:
    """Objects of a uint8 RGB frame [H, W, 3] before the named background, from left to right."""
    label, brightness = label_pixels(frame, background)
    solid = (label > 0).astype(np.uint8)
    if background == "sky":
        # A dark stripe cannot be told from the night: bridge it where it nearly cuts a small object in two.
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
    colour is believed only where its pixels lie elsewhere than those of the first.
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
    pieces = 1 + round((longer - shorter) / (shorter + 3))  # neighbours stand a few pixels apart
    edges = np.rint(np.linspace(0, longer, pieces + 1)).astype(int) + (rows[0] if height > width else columns[0])
    parts = []
    for low, high in itertools.pairwise(edges):
        part = np.zeros_like(mask)
        box = np.s_[low:high, :] if height > width else np.s_[:, low:high]
        part[box] = mask[box]
        if part.any():
            parts.append(part)
    return parts
