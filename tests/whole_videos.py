"""A small video without a fault."""

import numpy as np

from verified.demo.source import write_video


def write_small_video(path, seconds=4, seed=0):
    """An MP4 with a new picture each second at 8 frames a second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = np.random.default_rng(seed).integers(0, 255, (seconds, 48, 64, 3), dtype=np.uint8)
    write_video(path, np.repeat(pictures, 8, axis=0), 8)
