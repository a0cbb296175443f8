"""What the reader sees: things in a still picture, and what happens in a clip."""

import dataclasses
from collections import Counter

import cv2
import numpy as np

from verified.demo.scene_reader.motion import Motion, Track, measure, name_motion, rests_at_end
from verified.demo.scene_reader.palette import BACKGROUND_NAMES, name_backgrounds
from verified.demo.scene_reader.segmentation import Blob, find_blobs
from verified.demo.scene_reader.shapes import LARGE, name_shape, name_texture, radius

SIDE = 112
"""Pictures are looked at in this width and height; all lengths in the package are pixels of it."""
LOOKS = 8
"""Frames of a clip in which shapes are looked at closely."""


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
class Still:
    """One picture: its background and the things before it."""

    background: str
    things: tuple[Thing, ...]


@dataclasses.dataclass(frozen=True)
class Scene:
    """A part of a clip between two cuts; `bystander` is (shape, colour) or None."""

    background: str
    bystander: tuple[str, str] | None


@dataclasses.dataclass(frozen=True)
class Clip:
    """A clip: the acting group, what it does, and the scenes it does it in."""

    actor: Thing
    motion: Motion
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


def look(picture: np.ndarray) -> Still:
    """Background and things of one picture, uint8 RGB [H, W, 3]."""
    picture = scaled(picture[None])[0]
    background = BACKGROUND_NAMES[name_backgrounds(picture[None])[0]]
    groups: dict[str, list[Blob]] = {}
    for blob in find_blobs(picture, background):
        groups.setdefault(blob.colour, []).append(blob)
    return Still(background, tuple(describe_group(blobs) for blobs in groups.values()))


def describe_group(blobs: list[Blob], count: int | None = None) -> Thing:
    """Attributes that most of the `blobs` (of one colour) agree on."""
    shape = Counter(name_shape(blob) for blob in blobs).most_common(1)[0][0]
    texture = Counter(name_texture(blob, shape) for blob in blobs).most_common(1)[0][0]
    reach = float(np.median([radius(blob, shape) for blob in blobs]))
    size = "large" if reach >= LARGE else "small"
    return Thing(shape, blobs[0].colour, size, texture, count or len(blobs), reach)


def resemblance(thing: Thing, facts: dict) -> float:
    """How well a thing fits what a caption says of its subject, and how little it looks like a bystander."""
    score = sum(4.0 * (getattr(thing, name) == facts[name]) for name in ("shape", "colour") if name in facts)
    score += 2.0 * (thing.count == facts.get("count")) + (thing.count > 1) + (thing.texture != "plain")
    return score + 0.5 * (not 8.3 <= thing.radius <= 11.7)


def subject_of(still: Still, facts: dict) -> Thing | None:
    """The thing that a caption with these facts is about; None if it is not in the picture.

    Only what appears or vanishes can be absent. Then a plain single thing of another shape is taken for a bystander.
    """
    if not still.things:
        return None
    best = max(still.things, key=lambda thing: resemblance(thing, facts))
    if facts.get("motion") in ("appears", "vanishes") and best.shape != facts.get("shape", best.shape):
        return best if best.count > 1 or best.texture != "plain" else None
    return best


def watch(frames: np.ndarray, times: np.ndarray, facts: dict) -> Clip | None:
    """What happens in a clip, uint8 RGB [T, H, W, 3] at `times` (seconds), to the subject of a caption with `facts`.

    The caption guides, as it guides the paper's models: it says which thing is meant, and where it has a verb, that
    verb is kept and its direction and speed are measured. Returns None if no object is recognised.
    """
    frames = scaled(frames)
    backgrounds = [BACKGROUND_NAMES[index] for index in name_backgrounds(frames)]
    seen: list[dict[str, list[Blob]]] = []
    for frame, background in zip(frames, backgrounds):
        groups: dict[str, list[Blob]] = {}
        for blob in find_blobs(frame, background):
            groups.setdefault(blob.colour, []).append(blob)
        seen.append(groups)
    things = {colour: describe_over_time(seen, colour) for colour in sorted(set().union(*seen))}
    things = {colour: thing for colour, thing in things.items() if thing is not None}
    tracks = {colour: follow(seen, colour, times) for colour in things}
    verbs = {colour: name_motion(tracks[colour]) for colour in things}
    acting = [colour for colour in things if verbs[colour] is not None]
    if not acting:
        return None
    chosen = max(acting, key=lambda colour: resemblance(things[colour], facts) + 1.5 * (verbs[colour] != "stays"))
    scenes = split_scenes(seen, backgrounds, chosen)
    verb = verbs[chosen]
    if verb == "moves" and scenes[-1].bystander and rests_at_end(tracks[chosen]):
        verb = "meets"
    return Clip(things[chosen], measure(tracks[chosen], facts.get("motion", verb)), scenes)


def describe_over_time(seen: list[dict[str, list[Blob]]], colour: str) -> Thing | None:
    """The group of one colour, from a few of the frames that show it; None if it is too rare to be real."""
    showing = [groups[colour] for groups in seen if colour in groups]
    if len(showing) < max(2, len(seen) // 10):
        return None
    count = Counter(len(blobs) for blobs in showing).most_common(1)[0][0]
    chosen = [blobs for blobs in showing if len(blobs) == count]
    chosen = [chosen[index] for index in np.unique(np.linspace(0, len(chosen) - 1, LOOKS).astype(int))]
    return describe_group([blob for blobs in chosen for blob in blobs], count)


def follow(seen: list[dict[str, list[Blob]]], colour: str, times: np.ndarray) -> Track:
    """Middle and radius of all objects of one colour, frame by frame; `times` [frames] in seconds."""
    x, y, reach = (np.full(len(seen), np.nan) for _ in range(3))
    for index, groups in enumerate(seen):
        blobs = groups.get(colour)
        if blobs:
            x[index] = (min(b.left for b in blobs) + max(b.left + b.width for b in blobs) - 1) / 2
            y[index] = (min(b.top for b in blobs) + max(b.top + b.height for b in blobs) - 1) / 2
            reach[index] = np.median([max(b.width, b.height) for b in blobs]) / 2
    return Track(np.asarray(times, dtype=np.float64), x, y, reach)


def split_scenes(seen: list[dict[str, list[Blob]]], backgrounds: list[str], actor: str) -> tuple[Scene, ...]:
    """Scenes between changes of the background, each with the other object that most of its frames show."""
    starts = [0] + [k for k in range(1, len(backgrounds)) if backgrounds[k] != backgrounds[k - 1]]
    scenes = []
    for start, end in zip(starts, [*starts[1:], len(backgrounds)]):
        if end - start < 2 and len(starts) > 1:
            continue
        part = seen[start:end]
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
