"""Synthetic scenes of the demo: the events of a video, drawn from a seed, together with their true facts.

Times are frames (`first` inclusive, `last` exclusive) and seconds; lengths are scene units (see `vocabulary`).
Everything is drawn with Python's generator, whose sequences are the same on every machine.
"""

import random
from dataclasses import dataclass, replace
from itertools import pairwise

from verified.demo.motion import GAP, MARGIN, Placed, draw_direction, place_group, swept_box
from verified.demo.shapes import BACKGROUNDS, BYSTANDER_RADII, COLOURS, EXTENT, HIDDEN, REACH, SHAPES, TEXTURES
from verified.runtime.seeds import derive_seed

SHORTEST_SECONDS, LONGEST_SECONDS = 2.0, 4.5
PAN_SPEED = 10.0
"""Scene units per second."""

MOTION_WEIGHTS = {
    "moves": 44,
    "meets": 9,
    "grows": 7,
    "shrinks": 7,
    "bounces": 9,
    "circles": 9,
    "appears": 5,
    "vanishes": 5,
    "stays": 5,
}
COUNT_WEIGHTS = {1: 50, 2: 30, 3: 20}


@dataclass(frozen=True)
class Bystander:
    """A still, plain object. Middle and radius in scene units."""

    shape: str
    colour: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Scene:
    """A segment of frames between two changes of the stage."""

    first: int
    last: int
    background: str
    pan: str | None
    """Direction in which the background scrolls: left, right or none."""
    phase: float
    """Shift of the pattern at the first frame, in scene units."""
    bystander: Bystander | None = None


@dataclass(frozen=True)
class Event:
    """One group of actors doing one thing."""

    first: int
    last: int
    shape: str
    colour: str
    texture: str
    placed: Placed
    scenes: tuple[Scene, ...]

    @property
    def count(self) -> int:
        return len(self.placed.offsets)


@dataclass(frozen=True)
class SceneVideo:
    """One video: the scenes cover all its frames without gaps; the events are in them."""

    fps: int
    frames: int
    scenes: tuple[Scene, ...]
    events: tuple[Event, ...]

    @property
    def cuts(self) -> list[float]:
        """Seconds at which the background changes, i.e. the times of the first frames of new backgrounds."""
        pairs = pairwise(self.scenes)
        return [after.first / self.fps for before, after in pairs if before.background != after.background]


def make_scenes(seed: int, video: str, seconds: int, fps: int) -> SceneVideo:
    """Draw the video `video` of the demo corpus."""
    rng = random.Random(derive_seed(seed, "demo world", video))
    frames, shortest = seconds * fps, round(SHORTEST_SECONDS * fps)
    scenes, events, now = [], [], 0
    before = None
    while frames - now >= shortest:
        event = draw_event(rng, now, frames, fps, before)
        events.append(event)
        scenes.extend(event.scenes)
        now, before = event.last, event.scenes[-1]
        remaining = frames - now
        pause = rng.randint(max(1, fps // 4), max(1, 3 * fps // 4)) if rng.random() < 0.45 else 0
        if remaining - pause < shortest:
            pause = remaining
        if pause:
            before = following_scene(before, now, now + pause, fps)
            scenes.append(before)
            now += pause
    return SceneVideo(fps, frames, tuple(scenes), tuple(events))


def following_scene(before: Scene, first: int, last: int, fps: int) -> Scene:
    """`before` continued over the frames `first` to `last`, its pattern scrolling on where it was."""
    return replace(
        before, first=first, last=last, phase=before.phase + pan_velocity(before) * (first - before.first) / fps
    )


def pan_velocity(scene: Scene) -> float:
    """Scene units per second that the background's pattern moves to the right."""
    return {None: 0.0, "left": -PAN_SPEED, "right": PAN_SPEED}[scene.pan]


def draw_event(rng: random.Random, first: int, limit: int, fps: int, before: Scene | None = None) -> Event:
    """One event that starts at frame `first` and ends at `limit` at the latest, after the scene `before`."""
    shape, target, placed = _draw_placed(rng, limit - first, fps)
    last = first + round(placed.path.seconds * fps)
    scenes = _draw_scenes(rng, first, last, fps, before, placed.path.motion)
    backgrounds = {scene.background for scene in scenes}
    colour = rng.choice(_colours_seen_on(backgrounds))
    if placed.target:
        colours = [c for c in _colours_seen_on(backgrounds) if c != colour]
        met = Bystander(target, rng.choice(colours), *placed.target)
        scenes = [replace(scene, bystander=met) for scene in scenes]
    else:
        scenes = [replace(scene, bystander=_draw_bystander(rng, scene, shape, colour, placed)) for scene in scenes]
    return Event(first, last, shape, colour, rng.choice(TEXTURES), placed, tuple(scenes))


def _draw_placed(rng: random.Random, most_frames: int, fps: int) -> tuple[str, str, Placed]:
    """Shape of the actors, shape of a possible target, and the actors on their way.

    The motion is drawn first and its length adapts to it: otherwise fast motions, which soon reach the border, would be
    rare.
    """
    shortest, longest = round(SHORTEST_SECONDS * fps), round(LONGEST_SECONDS * fps)
    while True:
        shape, target = rng.sample(SHAPES, 2)
        motion = _draw_weighted(rng, MOTION_WEIGHTS)
        direction, speed = draw_direction(rng, motion)
        count = 1 if motion == "meets" else _draw_weighted(rng, COUNT_WEIGHTS)
        if motion in ("grows", "shrinks"):
            count = min(count, 2)
        size = "small" if count == 3 else rng.choice(("small", "large"))
        group = {"shape": shape, "motion": motion, "direction": direction, "speed": speed, "count": count, "size": size}
        for _ in range(40):
            seconds = rng.randint(shortest, min(longest, most_frames)) / fps
            placed = place_group(rng, group, seconds, target)
            if placed:
                return shape, target, placed


def _draw_scenes(rng: random.Random, first: int, last: int, fps: int, before: Scene | None, motion: str) -> list[Scene]:
    scenes = []
    starts = [first, *_draw_cuts(rng, first, last, fps, motion), last]
    for start, end in pairwise(starts):
        if start == first and before and rng.random() < 0.4:
            scene = following_scene(before, start, end, fps)
        else:
            background = rng.choice([name for name in BACKGROUNDS if before is None or name != before.background])
            pan = rng.choice(("left", "right")) if rng.random() < 0.25 else None
            scene = Scene(start, end, background, pan, rng.uniform(0, EXTENT))
        scenes.append(scene)
        before = scene
    return scenes


def _draw_cuts(rng: random.Random, first: int, last: int, fps: int, motion: str) -> list[int]:
    """No cut (55 %), one or two: 0.75 s or more from one another, the ends, and the half where something happens."""
    distance = max(1, round(0.75 * fps))
    fixed = [first, last] + ([(first + last) // 2] if motion in ("appears", "vanishes") else [])
    cuts = []
    for _ in range(_draw_weighted(rng, {0: 55, 1: 30, 2: 15})):
        free = [f for f in range(first, last) if all(abs(f - other) >= distance for other in fixed + cuts)]
        if free:
            cuts.append(rng.choice(free))
    return sorted(cuts)


def _draw_bystander(rng: random.Random, scene: Scene, shape: str, colour: str, placed: Placed) -> Bystander | None:
    if rng.random() < 0.4:
        return None
    left, top, right, bottom = swept_box(placed)
    radius = rng.uniform(*BYSTANDER_RADII)
    reach = REACH * radius
    for _ in range(12):
        x, y = (rng.uniform(MARGIN + reach, EXTENT - MARGIN - reach) for _ in range(2))
        apart = GAP + reach
        if x + apart < left or x - apart > right or y + apart < top or y - apart > bottom:
            colours = [c for c in _colours_seen_on({scene.background}) if c != colour]
            return Bystander(rng.choice([s for s in SHAPES if s != shape]), rng.choice(colours), x, y, radius)
    return None


def _colours_seen_on(backgrounds: set[str]) -> list[str]:
    return [colour for colour in COLOURS if not any((colour, background) in HIDDEN for background in backgrounds)]


def _draw_weighted(rng: random.Random, weights: dict):
    return rng.choices(tuple(weights), tuple(weights.values()))[0]


def facts(event: Event, fps: int) -> dict:
    """Ground truth of an event for corpus/truth.jsonl (times in seconds)."""
    return {
        "shape": event.shape,
        "colour": event.colour,
        "size": event.placed.size,
        "texture": event.texture,
        "count": event.count,
        "motion": event.placed.path.motion,
        "direction": event.placed.direction,
        "speed": event.placed.speed,
        "scenes": [
            {
                "start": scene.first / fps,
                "end": scene.last / fps,
                "background": scene.background,
                "pan": scene.pan,
                "bystander": scene.bystander and {"shape": scene.bystander.shape, "colour": scene.bystander.colour},
            }
            for scene in event.scenes
        ],
    }
