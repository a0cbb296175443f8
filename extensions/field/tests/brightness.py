"""An embedder that tells bright from dark, and videos of both, for tests of vectors."""

from pathlib import Path

import numpy as np

from verified.config.generation import Generation
from verified.demo.source import write_video
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING, vector_text


class Brightness:
    """Engine of the role `embed`: a frame by its brightness, a text by the words bright and dark."""

    name, model, revision = "openai", "brightness", ""

    def answer(self, requests):
        for request in requests:
            if request.frames is not None:
                share = float(request.frames.mean()) / 255
                yield Reply(vector_text([share - 0.5, 0.05]))
            elif "unknown" in request.prompt:
                yield Reply("", "blocked", "filter")
            else:
                yield Reply(vector_text([1.0 if "bright" in request.prompt else -1.0, 0.0]))


def brightness_session(folder: Path, **embed: object) -> Session:
    """A session whose role `embed` is answered by brightness."""
    settings = {"engine": "openai", "model": "brightness", "base_url": "http://127.0.0.1:9", **embed}
    generation = Generation.model_validate({"ledger": str(folder / "ledger"), "embed": settings})
    return Session(generation, 0, (EMBEDDING,), {"embed": Brightness()})


def bright_between(path: Path, seconds: float, start: float, end: float, fps: int = 8) -> dict:
    """Write a dark video that is bright from `start` to `end`; its row of videos.jsonl."""
    times = np.arange(int(seconds * fps)) / fps
    levels = np.where((times >= start) & (times < end), 235, 20).astype(np.uint8)
    write_video(path, np.broadcast_to(levels[:, None, None, None], (len(levels), 32, 48, 3)), fps)
    size = {"width": 48, "height": 32, "duration": seconds, "sha256": f"digest of {path.name}"}
    return {"video": path.stem, "path": str(path), **size}
