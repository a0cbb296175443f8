"""The source `demo`: rendered H.264 files with a moments file, and the truth, which only tests and the validity report
read.

The same frames give the same file with any number of cores, at any date. Coarse captions are as people write them: an
object and a verb, and in half of them one more thing. DiDeMo's carry an attribute or a direction about as often; many
moments share a caption, as in Charades-STA.
"""

import contextlib
import os
import random
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path

import av
import numpy as np
from av.codec.context import Flags

from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.scenes import SceneVideo, facts, make_scenes
from verified.demo.shapes import article, plural
from verified.io.files import atomic_path
from verified.io.jsonl import write_jsonl
from verified.runtime.progress import track
from verified.runtime.seeds import derive_seed


def render_demo(
    source: dict,
    seed: int,
    videos: str | os.PathLike,
    moments: str | os.PathLike,
    truth: str | os.PathLike,
    processes: int = 1,
) -> None:
    """Write the videos into the folder `videos`, their coarse captions to `moments`, the facts to `truth`.

    A video depends on the seed and its name, so that a larger corpus of the same seed begins with the same videos, and
    any number of processes renders them.
    """
    names = [f"demo-{number:04d}" for number in range(1, source["videos"] + 1)]
    splits = assign_splits(names, source["train_share"], source["val_share"], seed)
    Path(videos).mkdir(parents=True, exist_ok=True)
    moment_rows, truth_rows = [], []
    with ProcessPoolExecutor(processes) if processes > 1 else contextlib.nullcontext() as pool:
        rendered = (pool.map if pool else map)(partial(_render_video, source, seed, Path(videos)), names)
        for name, (cuts, rendered_events) in zip(names, track(rendered, "render", len(names), "videos"), strict=True):
            events = []
            for event in rendered_events:
                span = {"start": event["start"], "end": event["end"]}
                row = {"desc_id": len(moment_rows) + 1, "video": name, **span, "split": splits[name]}
                moment_rows.append({**row, "caption": event["caption"]})
                events.append({"desc_id": row["desc_id"], **span, "facts": event["facts"]})
            truth_rows.append({"video": name, "cuts": cuts, "events": events})
    write_jsonl(moments, moment_rows)
    write_jsonl(truth, truth_rows)


def _render_video(source: dict, seed: int, folder: Path, name: str) -> tuple[list[float], list[dict]]:
    """Write one video; returns its cuts and its events {start, end, caption, facts}, times in seconds."""
    scenes = make_scenes(seed, name, source["seconds"], source["fps"])
    frames = render_scenes(scenes, source["size"], derive_seed(seed, "noise", name))
    write_video(folder / f"{name}.mp4", frames, scenes.fps)
    rng = random.Random(derive_seed(seed, "coarse captions", name))
    events = []
    for event in scenes.events:
        event_facts = facts(event, scenes.fps)
        span = {"start": event.first / scenes.fps, "end": event.last / scenes.fps}
        events.append({**span, "caption": coarse_caption(event_facts, rng), "facts": event_facts})
    return scenes.cuts, events


def render_scenes(video: SceneVideo, size: int, noise_seed: int) -> np.ndarray:
    """All frames of a video, uint8 [frames, size, size, 3]."""
    canvas = np.empty((video.frames, size, size, 3), np.float32)
    for stage in video.scenes:
        draw_stage(canvas[stage.first : stage.last], stage, np.arange(stage.last - stage.first) / video.fps)
    for event in video.events:
        draw_actors(canvas[event.first : event.last], event, np.arange(event.last - event.first) / video.fps)
    return finish(canvas, random.Random(noise_seed))


def assign_splits(videos: list[str], train_share: float, val_share: float, seed: int) -> dict[str, str]:
    """Split of each video, drawn by the seed. Shares are rounded to whole videos, one at least; the rest is test."""
    drawn = sorted(videos, key=lambda video: derive_seed(seed, "split", video))
    train = min(max(1, round(train_share * len(videos))), len(videos) - 2)
    val = min(max(1, round(val_share * len(videos))), len(videos) - train - 1)
    return {
        video: "train" if rank < train else "val" if rank < train + val else "test" for rank, video in enumerate(drawn)
    }


# x264's assembler paths give other bytes on other processors, and now and then in one process; plain C does not.
_OPTIONS = {
    "crf": "20",
    "preset": "superfast",
    "threads": "1",
    "x264-params": "no-asm=1:mbtree=1:rc-lookahead=10:keyint=32",
}


def write_video(path: str | os.PathLike, frames: np.ndarray, fps: int) -> None:
    """Write `frames` (uint8 [n, height, width, 3], RGB, even sides) as an MP4 file of `fps` frames a second."""
    with atomic_path(path) as temporary, av.open(str(temporary), "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps, options=_OPTIONS)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, fps)
        stream.codec_context.flags |= Flags.bitexact
        for index, frame in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(frame, format="rgb24")
            picture.pts = index
            container.mux(stream.encode(picture))
        container.mux(stream.encode())


_DEFINITE = 0.15
"""Share of captions that say "the ball" instead of "a ball"."""

_VERBS = {
    "moves": ("moves", "move"),
    "meets": ("touches something", "touch something"),
    "grows": ("grows", "grow"),
    "shrinks": ("shrinks", "shrink"),
    "bounces": ("bounces", "bounce"),
    "circles": ("circles around", "circle around"),
    "appears": ("appears", "appear"),
    "vanishes": ("vanishes", "vanish"),
    "stays": ("stays still", "stay still"),
}
_DIRECTIONS = {"left": "to the left", "right": "to the right", "up": "up", "down": "down"}
_SPEEDS = {"slow": "slowly", "fast": "fast"}
_PLACES = {
    "wall": "by the wall",
    "sky": "at night",
    "sand": "on the sand",
    "field": "on the grass",
    "bricks": "by the bricks",
    "water": "on the water",
}
_NUMBERS = {2: "two", 3: "three"}


def coarse_caption(facts: dict, rng: random.Random) -> str:
    """A true coarse caption of an event (see `scenes.facts`); about half of the draws name one detail."""
    several = facts["count"] > 1
    noun = plural(facts["shape"]) if several else facts["shape"]
    verb = _VERBS[facts["motion"]][several]
    definite = rng.random() < _DEFINITE
    adjective, tail = _detail(facts, rng) if rng.random() < 0.5 else ("", "")
    noun = f"{adjective} {noun}" if adjective else noun
    if definite:
        noun = f"the {noun}"
    elif not several:
        noun = article(noun)
    text = f"{noun} {verb}"
    return f"{text} {tail}" if tail else text


def _detail(facts: dict, rng: random.Random) -> tuple[str, str]:
    """One attribute as an adjective, or one circumstance as a tail."""
    options = [("colour", 4), ("place", 1)]
    if facts["texture"] != "plain":
        options.append(("texture", 2))
    if facts["size"]:
        options.append(("size", 2))
    if facts["count"] > 1:
        options.append(("count", 2))
    if facts["direction"] in _DIRECTIONS and facts["motion"] == "moves":
        options.append(("direction", 4))
    if facts["speed"] and facts["motion"] == "moves":
        options.append(("speed", 2))
    names, weights = zip(*options)
    name = rng.choices(names, weights)[0]
    if name == "place":
        return "", _PLACES[facts["scenes"][0]["background"]]
    if name == "direction":
        return "", _DIRECTIONS[facts["direction"]]
    if name == "speed":
        return "", _SPEEDS[facts["speed"]]
    return (_NUMBERS[facts["count"]] if name == "count" else facts[name]), ""
