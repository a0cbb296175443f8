"""Views of a clip: one frame of each interval, in training a random crop.

As UMT's recipe has it, but for the horizontal flip, which is omitted: captions say left and right.
"""

import math

import numpy as np
import torch
from torch.nn.functional import interpolate

RATIOS = (3 / 4, 4 / 3)
"""Proportions, width to height, of a random part."""
ATTEMPTS = 10


def middle_frames(clip: np.ndarray, frames: int) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, H, W, 3]: the middle one of each interval, as UMT samples at test."""
    frames_per_interval = len(clip) // frames
    return clip[frames_per_interval // 2 :: frames_per_interval]


def draw_frames(clip: np.ndarray, frames: int, generator: np.random.Generator) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, H, W, 3]: one of each interval at random, as UMT samples in training."""
    frames_per_interval = len(clip) // frames
    return clip[np.arange(frames) * frames_per_interval + generator.integers(0, frames_per_interval, frames)]


def random_part(
    height: int, width: int, share: tuple[float, float], generator: np.random.Generator
) -> tuple[slice, slice]:
    """Rows and columns of a random part whose area is a share of the whole in the range `share`.

    Area uniform, proportions log-uniform in RATIOS, place uniform; after ten parts that do not fit, the largest middle
    part of allowed proportions (RandomResizedCrop).
    """
    for _ in range(ATTEMPTS):
        area = height * width * generator.uniform(*share)
        ratio = math.exp(generator.uniform(math.log(RATIOS[0]), math.log(RATIOS[1])))
        rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
        if 0 < rows <= height and 0 < columns <= width:
            top, left = generator.integers(0, height - rows + 1), generator.integers(0, width - columns + 1)
            return slice(top, top + rows), slice(left, left + columns)
    columns = min(width, round(height * RATIOS[1]))
    rows = min(height, round(width / RATIOS[0]))
    top, left = (height - rows) // 2, (width - columns) // 2
    return slice(top, top + rows), slice(left, left + columns)


def resize(frames: np.ndarray, size: int) -> np.ndarray:
    """uint8 [T, H, W, 3] → uint8 [T, size, size, 3], bicubic, proportions not kept (as UMT does); always a copy."""
    if frames.shape[1:3] == (size, size):
        return np.array(frames)
    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2)
    scaled = interpolate(pixels, (size, size), mode="bicubic", antialias=True)
    return np.ascontiguousarray(scaled.permute(0, 2, 3, 1).numpy())


def training_view(
    clip: np.ndarray, frames: int, size: int, share: tuple[float, float] | None, generator: np.random.Generator
) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, size, size, 3]: drawn frames, all cut to the same random part (None: to none)."""
    drawn = draw_frames(clip, frames, generator)
    if share:
        rows, columns = random_part(drawn.shape[1], drawn.shape[2], share, generator)
        drawn = drawn[:, rows, columns]
    return resize(drawn, size)


def scoring_view(clip: np.ndarray, frames: int, size: int) -> np.ndarray:
    """[frames·k, H, W, 3] → [frames, size, size, 3]: the middle frames, whole."""
    return resize(middle_frames(clip, frames), size)
