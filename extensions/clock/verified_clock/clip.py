"""The clip of the clock test: discs in three colours, each of which appears at a known second, on a grey background."""

from collections.abc import Sequence

import numpy as np

DURATION = 8.0
SHOWN = 1.0
"""Seconds for which a disc is shown."""
EVENTS = {"red": 4.0, "blue": 6.0, "yellow": 1.0}
"""Colour → second at which its disc appears, which is a sampled time in each sampling. Colours are asked in this order,
which is not that of time, so that a guess of rising seconds is wrong."""
PAINTS = {"red": (220, 30, 30), "blue": (30, 60, 220), "yellow": (240, 220, 40)}
BACKGROUND = (96, 96, 96)
SAMPLINGS: dict[str, tuple[float, ...]] = {
    "1 frame a second": tuple(map(float, range(8))),
    "2 frames a second": tuple(number / 2 for number in range(16)),
    "uneven": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 4.0, 4.5, 6.0, 7.0),
}
"""Seconds of the frames that a model is given."""
EVEN = tuple(SAMPLINGS)[:2]


def frames_at(times: Sequence[float], side: int) -> np.ndarray:
    """The clip at these seconds, uint8 RGB [T, H, W, 3]; `side` is the width in pixels, in proportions of 4 to 3."""
    width, height = side // 2 * 2, side * 3 // 4 // 2 * 2
    frames = np.empty((len(times), height, width, 3), np.uint8)
    frames[:] = BACKGROUND
    rows, columns = np.mgrid[:height, :width]
    disc = (rows - height / 2) ** 2 + (columns - width / 2) ** 2 < (height / 3) ** 2
    for frame, time in zip(frames, times):
        for colour, start in EVENTS.items():
            if start <= time < start + SHOWN:
                frame[disc] = PAINTS[colour]
    return frames


def first_frames(times: Sequence[float]) -> list[int]:
    """Position of the first frame that shows each event, in the order of EVENTS."""
    return [next(n for n, time in enumerate(times) if time >= start) for start in EVENTS.values()]
