"""From the positions of a group of objects over time to a verb, a direction and a speed."""

import dataclasses

import numpy as np

STILL = 4.0
"""Positions within this many pixels are one place."""
FAST = 18.0
"""Pixels per second from which a motion is fast."""
GROWTH = 1.35
"""Ratio of last and first radius from which a change of size is one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """Where a group is: `times` in seconds, `x`, `y` and `radius` in pixels (nan where absent), each float [T]."""

    times: np.ndarray
    x: np.ndarray
    y: np.ndarray
    radius: np.ndarray

    @property
    def present(self) -> np.ndarray:
        return ~np.isnan(self.x)


@dataclasses.dataclass(frozen=True)
class Motion:
    """What a group does; direction and speed are None where the verb has none."""

    motion: str
    direction: str | None = None
    speed: str | None = None
    hops: int | None = None


def name_motion(track: Track) -> str | None:
    """The verb for a track; None if the group is hardly ever there.

    A motion that ends early may have met something: that is for the caller to see (`rests_at_end`).
    """
    present = track.present
    half = len(present) // 2
    before, after = present[:half].mean() if half else 0.0, present[half:].mean()
    if max(before, after) < 0.5:
        return None
    if before < 0.3 and after > 0.7:
        return "appears"
    if before > 0.7 and after < 0.3:
        return "vanishes"
    x, y, radius = (values[present] for values in (track.x, track.y, track.radius))
    growth = ends(radius)[1] / ends(radius)[0]
    if growth > GROWTH or growth < 1 / GROWTH:
        return "grows" if growth > 1 else "shrinks"
    across, along = np.ptp(_smooth(x)), np.ptp(_smooth(y))
    if max(across, along) < STILL:
        return "stays"
    if min(across, along) > 0.5 * max(across, along):
        return "circles"
    start, end = ends(y)
    return "bounces" if along > across and abs(end - start) < 0.5 * along else "moves"


def measure(track: Track, verb: str) -> Motion:
    """Direction, speed and number of hops of a track that is described by `verb`, as far as the verb has them."""
    times, x, y = (values[track.present] for values in (track.times, track.x, track.y))
    if verb == "circles":
        return Motion(verb, _turn(x, y))
    if verb == "bounces":
        return Motion(verb, hops=count_hops(y))
    if verb not in ("moves", "meets"):
        return Motion(verb)
    across, along = (abs(np.subtract(*ends(values))) for values in (x, y))
    values, names = (x, ("left", "right")) if across > along else (y, ("up", "down"))
    start, end = ends(values)
    return Motion(verb, names[int(end > start)], "fast" if _pace(times, values) > FAST else "slow")


def ends(values: np.ndarray) -> tuple[float, float]:
    """Median of the first and of the last three values [frames]."""
    return float(np.median(values[:3])), float(np.median(values[-3:]))


def rests_at_end(track: Track) -> bool:
    """Whether a moving group stands still in the last eighth of the time, having moved before."""
    times, x, y = (values[track.present] for values in (track.times, track.x, track.y))
    if len(times) < 8:
        return False
    last = times >= times[-1] - 0.15 * (times[-1] - times[0])
    return bool(last.sum() >= 2 and max(np.ptp(x[last]), np.ptp(y[last])) <= 1.5)


def count_hops(y: np.ndarray) -> int:
    """How often the group rises above the middle of its path, `y` [frames], and comes down again."""
    above = y < (y.min() + y.max()) / 2
    return int((np.diff(above.astype(int)) == 1).sum() + above[0])


def _pace(times: np.ndarray, values: np.ndarray) -> float:
    """Pixels per second over the first two thirds: a motion may end early."""
    early = times <= times[0] + 0.67 * (times[-1] - times[0])
    if early.sum() < 2:
        early[:] = True
    return float(abs(np.polyfit(times[early], values[early], 1)[0]))


def _turn(x: np.ndarray, y: np.ndarray) -> str:
    """Sense of rotation as seen (y points down) around the middle of the path."""
    angle = np.unwrap(np.arctan2(y - (y.min() + y.max()) / 2, x - (x.min() + x.max()) / 2))
    return "clockwise" if angle[-1] > angle[0] else "anticlockwise"


def _smooth(values: np.ndarray) -> np.ndarray:
    """Running median of three, so that one bad frame is no motion."""
    if len(values) < 3:
        return values
    return np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
