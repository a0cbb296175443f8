"""An index of a small corpus of random features, with a model of random weights, in seconds."""

from pathlib import Path

import numpy as np
import torch
from given import fig
from media import counted, write_video

from verified.benchmark.vcmr.checkpoint import save_model
from verified.benchmark.vcmr.registry import build_model
from verified.config.datasets import Spans
from verified.config.features import Features
from verified.config.retrieval import Retrieval
from verified.io.fig import write_fig
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_jsonl
from verified.io.video import probe
from verified_search.config import IndexSettings, Search

FEATURES, WORDS, CONTEXT = 12, 384, 16  # WORDS: the packaged text encoder's width
SPANS = {"min_pred_clips": 1, "max_pred_clips": 6, "nms_threshold": 0.6}


def write_video_features(path: Path, videos: dict[str, np.ndarray]) -> None:
    rows = ((video, clips.astype(np.float16), {"sha256": "0" * 64}) for video, clips in sorted(videos.items()))
    width = next(iter(videos.values())).shape[1]
    write_features(path, {"dim": width, "clip_seconds": 1.0, "backbone": "random", "fps": 4.0}, rows)


def random_videos(count: int, seed: int = 0, longest: int = CONTEXT, width: int = FEATURES) -> dict[str, np.ndarray]:
    """`count` videos of 3 to `longest` clips."""
    draw = np.random.default_rng(seed)
    return {f"v{n:04d}": draw.normal(size=(draw.integers(3, longest + 1), width)) for n in range(count)}


def write_corpus(
    folder: Path, videos: dict[str, np.ndarray], model: str = "xml", thumbnails: int = 0
) -> tuple[dict, IndexSettings]:
    """Everything that an index is built from; returns the `files` and `settings` of `search.update.update`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_video_features(folder / "video.h5", videos)
    torch.manual_seed(3)
    sizes = {"video_dim": next(iter(videos.values())).shape[1], "context_clips": CONTEXT, "query_tokens": 8}
    sizes, small = {**sizes, "text_dim": WORDS}, {"hidden": 16, "heads": 2}
    if model == "hero":
        sizes |= {"text_dim": 0, "vocabulary": 30522, "cls_id": 101}
        small |= {"feed_forward": 32, "cross_layers": 2, "temporal_layers": 1, "positions": 64}
    built = build_model(model, sizes, small)
    save_model(folder / "checkpoint.safetensors", model, built, built.state_dict(), {"parameters": 1})
    rows, draw = [], np.random.default_rng(5)
    for number, (video, clips) in enumerate(sorted(videos.items())):
        fine = f"a <b>red</b> thing, number {number}, moves"
        said = {"cog_desc": f"thing {number} moves", "fig_desc": fine, "fig_desc_score": 0.5}
        rows.append(fig(number, video, 0.0, 2.0, duration=float(len(clips)), **said))
    write_fig(folder / "test.jsonl", rows)
    words = ((str(row["desc_id"]), draw.normal(size=(5, WORDS)).astype(np.float16), {}) for row in rows)
    write_features(folder / "text.h5", {"dim": WORDS, "backbone": "random"}, words)
    write_jsonl(folder / "videos.jsonl", [])
    files = {"features": folder / "video.h5", "checkpoint": folder / "checkpoint.safetensors"}
    files |= {"text": folder / "text.h5", "videos": folder / "videos.jsonl"}
    files |= {name: [folder / "test.jsonl"] for name in ("annotations", "queries")}
    return files, index_settings(model, Features(), thumbnails)


def index_settings(model: str, features: Features, thumbnails: int) -> IndexSettings:
    return IndexSettings(
        model=model,
        dataset="small",
        title="Small",
        spans=Spans(**SPANS),
        search=Search(thumbnails=thumbnails),
        retrieval=Retrieval(),
        features=features,
        seed=1,
    )


COLOURS = {"red": (200, 30, 20), "blue": (10, 20, 90), "green": (30, 190, 60), "yellow": (220, 210, 40)}


class Colours:
    """A joint encoder that knows the mean colour of a frame, and the names of four."""

    size, dim, crop, together = 32, 3, True, 1

    def __call__(self, frames):
        return frames.mean((1, 2)).astype(np.float32) - 127

    def sentences(self, texts):
        return [(np.zeros((1, 3), np.float32), np.array(COLOURS[text], np.float32) - 127) for text in texts]


def describe_videos(folder: Path, videos: dict[str, np.ndarray], size: tuple[int, int] = (96, 128)) -> None:
    """A video file as long as its features for each video in the corpus, and `videos.jsonl` with them."""
    rows = []
    for video, clips in videos.items():
        write_video(folder / f"{video}.mp4", counted(8 * len(clips), size))
        rows.append({"video": video, "path": str(folder / f"{video}.mp4"), **probe(folder / f"{video}.mp4")})
    write_jsonl(folder / "videos.jsonl", rows)
