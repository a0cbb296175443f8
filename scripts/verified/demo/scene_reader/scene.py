"""The reader's perception: objects in a still picture, and events in a clip.

The positions of a group of objects over time give a verb, a direction and a speed.
"""

import dataclasses
from collections import Counter

import cv2
import numpy as np

from verified.demo.scene_reader.objects import (
    LARGE,
    Blob,
    groups_in,
    name_shape,
    name_texture,
    radius,
)

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


def name_motion(track: Track) -> str | None:
    """The verb for a track; None if the group is hardly ever there.

    A motion that ends early may be a meeting: the caller checks this (`rests_at_end`).
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


def measure(track: Track, verb: str) -> dict:
    """Facts of a track whose `motion` is `verb`: `direction`, `speed` and number of `hops`, if the verb has them."""
    facts = {"motion": verb}
    times, x, y = (values[track.present] for values in (track.times, track.x, track.y))
    if verb == "circles":
        return facts | {"direction": _turn(x, y)}
    if verb == "bounces":
        return facts | {"hops": count_hops(y)}
    if verb not in ("moves", "meets"):
        return facts
    across, along = (abs(np.subtract(*ends(values))) for values in (x, y))
    values, names = (x, ("left", "right")) if across > along else (y, ("up", "down"))
    start, end = ends(values)
    speed = "fast" if _pace(times, values) > FAST else "slow"
    return facts | {"direction": names[int(end > start)], "speed": speed}


def ends(values: np.ndarray) -> tuple[float, float]:
    """Median of the first and of the last three values [frames]."""
    return float(np.median(values[:3])), float(np.median(values[-3:]))


def rests_at_end(track: Track) -> bool:
    """Whether a moving group is still in the last eighth of the time, having moved before."""
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
    """Running median of three, so that one bad frame is not a motion."""
    if len(values) < 3:
        return values
    return np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)


SIDE = 112
"""Width and height to which pictures are scaled; all lengths in the package are in these pixels."""
LOOKS = 8
"""Frames of a clip whose shapes are analysed."""


@dataclasses.dataclass(frozen=True)
class Thing:
    """A group of like objects."""

    shape: str
    colour: str
    size: str
    texture: str
    count: int
    radius: float


@dataclasses.dataclass(frozen=True)
class Scene:
    """A part of a clip between two cuts; `bystander` is (shape, colour) or None."""

    background: str
    bystander: tuple[str, str] | None


@dataclasses.dataclass(frozen=True)
class Clip:
    """A clip: the acting group, its motion as of `measure`, and the scenes it appears in."""

    actor: Thing
    motion: dict
    scenes: tuple[Scene, ...]


def decode_picture(data: bytes) -> np.ndarray | None:
    """A JPEG or PNG file as uint8 RGB [H, W, 3]; None if it cannot be decoded."""
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    return None if picture is None else np.ascontiguousarray(picture[:, :, ::-1])


def scaled(frames: np.ndarray) -> np.ndarray:
    """Frames [frames, H, W, 3] at the size of the demo, [frames, SIDE, SIDE, 3]."""
    if frames.shape[1:3] == (SIDE, SIDE):
        return frames
    return np.stack([cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for frame in frames])


def look(picture: np.ndarray) -> tuple[str, list[Thing]]:
    """Background and things of one picture, uint8 RGB [H, W, 3]."""
    (background,), (groups,) = groups_in(scaled(picture[None]))
    return background, [describe_group(blobs) for blobs in groups.values()]


def describe_group(blobs: list[Blob], count: int | None = None) -> Thing:
    """Attributes that most of the `blobs` (of one colour) agree on."""
    shape = Counter(name_shape(blob) for blob in blobs).most_common(1)[0][0]
    texture = Counter(name_texture(blob, shape) for blob in blobs).most_common(1)[0][0]
    reach = float(np.median([radius(blob, shape) for blob in blobs]))
    size = "large" if reach >= LARGE else "small"
    return Thing(shape, blobs[0].colour, size, texture, count or len(blobs), reach)


def resemblance(thing: Thing, facts: dict) -> float:
    """How well an object fits the caption's description of its subject, and how little it looks like a bystander."""
    score = sum(4.0 * (getattr(thing, name) == facts[name]) for name in ("shape", "colour") if name in facts)
    score += 2.0 * (thing.count == facts.get("count")) + (thing.count > 1) + (thing.texture != "plain")
    return score + 0.5 * (not 8.3 <= thing.radius <= 11.7)


def subject_of(things: list[Thing], facts: dict) -> Thing | None:
    """The object that a caption with these facts is about; None if it is not in the picture.

    Only an object that appears or vanishes can be absent. Then a plain single object of another shape counts as a
    bystander.
    """
    if not things:
        return None
    best = max(things, key=lambda thing: resemblance(thing, facts))
    if facts.get("motion") in ("appears", "vanishes") and best.shape != facts.get("shape", best.shape):
        return best if best.count > 1 or best.texture != "plain" else None
    return best


def watch(frames: np.ndarray, times: np.ndarray, facts: dict) -> Clip | None:
    """Read the motion of a caption's subject from a clip, uint8 RGB [T, H, W, 3] at `times` (seconds).

    The caption guides, as it guides the paper's models: it identifies the object, and if it has a verb, that verb is
    used and its direction and speed are measured. Returns None if no object is recognised.
    """
    backgrounds, by_frame = groups_in(scaled(frames))
    things = {colour: describe_over_time(by_frame, colour) for colour in sorted(set().union(*by_frame))}
    things = {colour: thing for colour, thing in things.items() if thing is not None}
    tracks = {colour: follow(by_frame, colour, times) for colour in things}
    verbs = {colour: name_motion(tracks[colour]) for colour in things}
    acting = [colour for colour in things if verbs[colour] is not None]
    if not acting:
        return None
    chosen = max(acting, key=lambda colour: resemblance(things[colour], facts) + 1.5 * (verbs[colour] != "stays"))
    scenes = split_scenes(by_frame, backgrounds, chosen)
    verb = verbs[chosen]
    if verb == "moves" and scenes[-1].bystander and rests_at_end(tracks[chosen]):
        verb = "meets"
    return Clip(things[chosen], measure(tracks[chosen], facts.get("motion", verb)), scenes)


def describe_over_time(by_frame: list[dict[str, list[Blob]]], colour: str) -> Thing | None:
    """The group of one colour, from a few of the frames that show it; None if it is too rare to be an object."""
    showing = [groups[colour] for groups in by_frame if colour in groups]
    if len(showing) < max(2, len(by_frame) // 10):
        return None
    count = Counter(len(blobs) for blobs in showing).most_common(1)[0][0]
    chosen = [blobs for blobs in showing if len(blobs) == count]
    chosen = [chosen[index] for index in np.unique(np.linspace(0, len(chosen) - 1, LOOKS).astype(int))]
    return describe_group([blob for blobs in chosen for blob in blobs], count)


def middle(blobs: list[Blob]) -> tuple[float, float]:
    """Middle of the box around all of them, in pixels."""
    return (
        (min(b.left for b in blobs) + max(b.left + b.width for b in blobs) - 1) / 2,
        (min(b.top for b in blobs) + max(b.top + b.height for b in blobs) - 1) / 2,
    )


def follow(by_frame: list[dict[str, list[Blob]]], colour: str, times: np.ndarray) -> Track:
    """Middle and radius of all objects of one colour, frame by frame; `times` [frames] in seconds."""
    x, y, reach = (np.full(len(by_frame), np.nan) for _ in range(3))
    for index, groups in enumerate(by_frame):
        blobs = groups.get(colour)
        if blobs:
            x[index], y[index] = middle(blobs)
            reach[index] = np.median([max(b.width, b.height) for b in blobs]) / 2
    return Track(np.asarray(times, dtype=np.float64), x, y, reach)


def split_scenes(by_frame: list[dict[str, list[Blob]]], backgrounds: list[str], actor: str) -> tuple[Scene, ...]:
    """Scenes between changes of the background, each with the other object that most of its frames show."""
    starts = [0] + [k for k in range(1, len(backgrounds)) if backgrounds[k] != backgrounds[k - 1]]
    scenes = []
    for start, end in zip(starts, [*starts[1:], len(backgrounds)]):
        if end - start < 2 and len(starts) > 1:
            continue
        part = by_frame[start:end]
        others = Counter(colour for groups in part for colour in groups if colour != actor)
        colour, frames = others.most_common(1)[0] if others else ("", 0)
        bystander = None
        if frames > 0.5 * len(part):
            looks = [blob for groups in part[:LOOKS] for blob in groups.get(colour, [])]
            looks = looks or [blob for groups in part for blob in groups.get(colour, [])]
            bystander = (Counter(name_shape(blob) for blob in looks).most_common(1)[0][0], colour)
        if not scenes or scenes[-1] != Scene(backgrounds[start], bystander):
            scenes.append(Scene(backgrounds[start], bystander))
    return tuple(scenes) or (Scene(backgrounds[0], None),)
