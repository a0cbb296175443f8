"""The verdict on a model's clock, from the seconds that it answered.

In each sampling of the clip, an event's true second t and the position n of the first frame that shows it are known.
Answers are compared with t itself, and with the lines a·n + b and a·t + b by least squares.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verified_clock.clip import EVEN, EVENTS, SAMPLINGS, first_frames

KEEPS = "keeps time"
KEEPS_EVEN = "keeps the time of even frames alone"
COUNTS = "counts frames"
IGNORES = "ignores the frame rate"
SCALES = "states other seconds"
CANNOT = "cannot tell"
RIGHT = (KEEPS, KEEPS_EVEN)
LEAST_FIT = 0.95
"""Correlation from which answers follow a line."""

Answers = Mapping[str, Sequence[float] | None]
"""Sampling → answered seconds, in the order of EVENTS; None without a usable answer."""


class Verdict(NamedTuple):
    """A verdict; the answers over the true seconds have `slope` and `offset` (seconds), if there are answers."""

    name: str
    slope: float | None = None
    offset: float | None = None
    rate: float | None = None
    """Frames a second that the model assumes if it ignores the rate."""

    @property
    def is_right(self) -> bool:
        """Whether answers about evenly sampled frames can be trusted."""
        return self.name in RIGHT

    def __str__(self) -> str:
        if self.is_right or self.slope is None or self.offset is None or self.name == CANNOT:
            return self.name
        name = f"{self.name} (as if there were {self.rate:.3g} a second)" if self.rate else self.name
        return f"{name}: slope {self.slope:.2f}, offset {round(self.offset, 1) + 0.0:.1f} s"


def judge(answers: Answers, tolerance: float) -> Verdict:
    """The verdict; errors up to `tolerance` seconds (root mean square) count as right."""
    true = np.array(list(EVENTS.values()))
    arrays = {name: np.asarray(values, float) for name, values in answers.items() if values is not None}
    right = {name for name, values in arrays.items() if np.sqrt(np.mean(np.square(values - true))) <= tolerance}
    if not arrays.keys() >= set(EVEN):
        return Verdict(CANNOT)
    said = np.concatenate([arrays[name] for name in EVEN])
    slope, offset, by_time = _line(np.tile(true, len(EVEN)), said)
    if right >= set(EVEN):
        return Verdict(KEEPS if right == set(SAMPLINGS) else KEEPS_EVEN, slope, offset)
    step, _, by_position = _line(np.concatenate([first_frames(SAMPLINGS[name]) for name in EVEN]), said)
    if max(by_time, by_position) < LEAST_FIT:
        return Verdict(CANNOT, slope, offset)
    if by_time > by_position:
        return Verdict(SCALES, slope, offset)
    return Verdict(COUNTS, slope, offset) if abs(step - 1) <= 0.1 else Verdict(IGNORES, slope, offset, 1 / step)


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope and offset of the line through (x, y) by least squares, and their correlation, 0 if all y are equal."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(offset), 0.0 if np.ptp(y) == 0 else float(np.corrcoef(x, y)[0, 1])
