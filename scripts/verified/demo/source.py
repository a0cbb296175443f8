"""The source `demo`: rendered H.264 files with a moments file, and the truth, which only tests and the validity report
read."""

import contextlib
import os
import random
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from verified.demo.coarse_captions import coarse_caption
from verified.demo.encode import write_video
from verified.demo.render import draw_actors, draw_stage, finish
from verified.demo.world import World, facts, make_world
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

    A video depends on the seed and its own name, so that a larger corpus of the same seed begins with the same videos,
    and any number of processes renders them.
    """
    names = [f"demo-{number:04d}" for number in range(1, source["videos"] + 1)]
    splits = assign_splits(names, source["train_share"], source["val_share"], seed)
    Path(videos).mkdir(parents=True, exist_ok=True)
    moment_rows, truth_rows = [], []
    with ProcessPoolExecutor(processes) if processes > 1 else contextlib.nullcontext() as pool:
        rendered = (pool.map if pool else map)(partial(_render_video, source, seed, Path(videos)), names)
        for name, (cuts, known) in zip(names, track(rendered, "render", len(names), "videos"), strict=True):
            events = []
            for event in known:
                span = {"start": event["start"], "end": event["end"]}
                row = {"desc_id": len(moment_rows) + 1, "video": name, **span, "split": splits[name]}
                moment_rows.append({**row, "caption": event["caption"]})
                events.append({"desc_id": row["desc_id"], **span, "facts": event["facts"]})
            truth_rows.append({"video": name, "cuts": cuts, "events": events})
    write_jsonl(moments, moment_rows)
    write_jsonl(truth, truth_rows)


def _render_video(source: dict, seed: int, folder: Path, name: str) -> tuple[list[float], list[dict]]:
    """Write one video; returns its cuts and its events {start, end, caption, facts}, times in seconds."""
    world = make_world(seed, name, source["seconds"], source["fps"])
    frames = render_world(world, source["size"], derive_seed(seed, "noise", name))
    write_video(folder / f"{name}.mp4", frames, world.fps)
    rng = random.Random(derive_seed(seed, "coarse captions", name))
    events = []
    for event in world.events:
        known = facts(event, world.fps)
        span = {"start": event.first / world.fps, "end": event.last / world.fps}
        events.append({**span, "caption": coarse_caption(known, rng), "facts": known})
    return world.cuts, events


def render_world(world: World, size: int, noise_seed: int) -> np.ndarray:
    """All frames of a video, uint8 [frames, size, size, 3]."""
    canvas = np.empty((world.frames, size, size, 3), np.float32)
    for stage in world.scenes:
        draw_stage(canvas[stage.first : stage.last], stage, np.arange(stage.last - stage.first) / world.fps)
    for event in world.events:
        draw_actors(canvas[event.first : event.last], event, np.arange(event.last - event.first) / world.fps)
    return finish(canvas, random.Random(noise_seed))


def assign_splits(videos: list[str], train_share: float, val_share: float, seed: int) -> dict[str, str]:
    """Split of each video, drawn by the seed. Shares are rounded to whole videos, one at least; the rest is test."""
    drawn = sorted(videos, key=lambda video: derive_seed(seed, "split", video))
    train = min(max(1, round(train_share * len(videos))), len(videos) - 2)
    val = min(max(1, round(val_share * len(videos))), len(videos) - train - 1)
    return {
        video: "train" if rank < train else "val" if rank < train + val else "test" for rank, video in enumerate(drawn)
    }
