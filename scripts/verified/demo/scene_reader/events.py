"""Events of a whole video from its frames: who is in view when, and their motion.

The frames are split into events by the group in view: a segment with a group of one colour and number and no jump is
one event, unless the group looks like a bystander. This is coarse; a grounder need not be perfect.
"""

import dataclasses
import functools

import numpy as np

from verified.demo.scene_reader.objects import Blob, groups_in
from verified.demo.scene_reader.scene import (
    LOOKS,
    describe_group,
    follow,
    measure,
    middle,
    name_motion,
    rests_at_end,
    scaled,
)
from verified.lmm.request import Request

JUMP = 22.0
"""Pixels between the middles of a group in successive frames from which it is another group."""
SHORTEST = 1.0
"""Seconds; shorter segments are noise, or a group half hidden."""
BYSTANDER_RADIUS = (8.0, 12.0)
WEIGHTS = {
    "shape": 3.0,
    "motion": 3.0,
    "colour": 3.0,
    "direction": 2.0,
    "speed": 1.0,
    "size": 1.0,
    "texture": 1.0,
    "count": 1.0,
}
"""Weights of the facts by which a text is compared with an event."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """One event as seen: seconds from the start of the video, and its facts."""

    start: float
    end: float
    facts: dict


def watch_request(request: Request) -> list[Seen]:
    """The events in the frames of a request, of which there are at least two."""
    frames = np.asarray(request.frames)
    return _watched(frames.tobytes(), frames.shape, tuple(request.frame_times))


@functools.lru_cache(maxsize=1)  # the questions about a video come one after the other
def _watched(pixels: bytes, shape: tuple[int, ...], times: tuple[float, ...]) -> list[Seen]:
    return watch_all(np.frombuffer(pixels, np.uint8).reshape(shape), np.asarray(times))


def watch_all(frames: np.ndarray, times: np.ndarray) -> list[Seen]:
    """The events of a video, uint8 RGB [T, H, W, 3] at `times` (seconds), in the order of time."""
    _, by_frame = groups_in(scaled(frames))
    step = float(np.median(np.diff(times)))
    events = []
    for first, last, colour in segments(by_frame):
        if times[last] - times[first] + step >= SHORTEST:
            event = _event(by_frame, times, first, last, colour, step)
            if event is not None:
                events.append(event)
    return sorted(events, key=lambda event: (event.start, event.end))


def segments(by_frame: list[dict[str, list[Blob]]]) -> list[tuple[int, int, str]]:
    """(first frame, last frame, colour) of each segment with a group of one colour and without a jump.

    A single frame without the group, or with another number of objects, does not end it.
    """
    spans = []
    for colour in sorted(set().union(*by_frame)):
        open_at, last, place, count, odd = None, -1, (0.0, 0.0), 0, 0
        for index, groups in enumerate(by_frame):
            blobs = groups.get(colour)
            if not blobs:
                continue
            here = middle(blobs)
            gap = index - last
            jumped = max(abs(here[0] - place[0]), abs(here[1] - place[1])) > JUMP * gap
            odd = odd + 1 if len(blobs) != count else 0
            if open_at is None or gap > 2 or jumped or odd >= 3:
                if open_at is not None:
                    spans.append((open_at, last - (odd - 1 if odd >= 3 else 0), colour))
                open_at, count = index - (odd - 1 if odd >= 3 else 0), len(blobs)
                odd = 0
            last, place = index, here
        if open_at is not None:
            spans.append((open_at, last, colour))
    return spans


def _event(by_frame: list[dict], times: np.ndarray, first: int, last: int, colour: str, step: float) -> Seen | None:
    """The event of a segment; None for a bystander."""
    part = by_frame[first : last + 1]
    nonempty = [groups[colour] for groups in part if colour in groups]
    usual = int(np.median([len(blobs) for blobs in nonempty]))
    usual_frames = [blobs for blobs in nonempty if len(blobs) == usual] or nonempty
    looks = [usual_frames[place] for place in np.unique(np.linspace(0, len(usual_frames) - 1, LOOKS).astype(int))]
    thing = describe_group([blob for blobs in looks for blob in blobs], usual)
    track = follow(part, colour, times[first : last + 1])
    motion = name_motion(track)
    if motion is None:
        return None
    small, large = BYSTANDER_RADIUS
    if motion == "stays" and thing.count == 1 and thing.texture == "plain" and small <= thing.radius <= large:
        return None
    alone = [set(groups) - {colour} for groups in part]
    if motion == "moves" and rests_at_end(track) and sum(map(bool, alone)) > len(alone) // 2:
        motion = "meets"
    measured = measure(track, motion)
    measured.pop("hops", None)
    facts = {"shape": thing.shape, "colour": thing.colour, "size": thing.size, "texture": thing.texture}
    facts |= {"count": thing.count, **measured}
    return Seen(float(times[first]), float(times[last] + step), facts)


def likeness(facts: dict, event: Seen) -> float:
    """How well an event fits a text; facts of the text that the event contradicts lower the score."""
    return sum(
        weight * (1 if event.facts.get(name) == facts[name] else -1)
        for name, weight in WEIGHTS.items()
        if name in facts
    )
