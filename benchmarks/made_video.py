"""The H.264 videos that benchmarks read, made once under benchmarks/results/video.

25 frames a second of moving texture and noise, key frames 10 s apart, so that decoding costs what it does in life.
"""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from sides import KEPT

FPS, WIDTHS = 25, {120: 214, 240: 426, 360: 640, 480: 854, 720: 1280}
"""Frames a second; height → width."""


def made_video(seconds: int, height: int) -> Path:
    """The video of so many seconds and pixels."""
    path = KEPT / "video" / f"{seconds}s-{height}p.mp4"
    if not path.exists():
        print(f"  making {path.name}", file=sys.stderr, flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        make_video(path, seconds, height)
    return path


def make_video(path: Path, seconds: int, height: int) -> None:
    """Encode texture in two moving layers, new every 12 s, with noise."""
    import av

    from verified.io.files import atomic_path

    random = np.random.default_rng(0)
    width = WIDTHS[height]
    noise = random.normal(0, 3, (height + 64, width + 64, 1)).astype(np.float32)
    with atomic_path(path) as temporary, av.open(str(temporary), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"crf": "23", "preset": "veryfast"})
        stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
        stream.codec_context.gop_size, stream.codec_context.time_base = 10 * FPS, Fraction(1, FPS)
        for number in range(seconds * FPS):
            if number % (12 * FPS) == 0:
                back, front = texture(random, height, width), texture(random, height, width)
                mask = texture(random, height, width)[..., :1] > 128
            image = np.where(np.roll(mask, 3 * number, 1), np.roll(front, 3 * number, 1), np.roll(back, -number, 1))
            top, left = random.integers(0, 64, 2)
            image = image + noise[top : top + height, left : left + width]
            frame = av.VideoFrame.from_ndarray(np.clip(image, 0, 255).astype(np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def texture(random: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Coloured texture with detail on all scales, float32 [height, width, 3] in 0 … 255."""
    total = np.zeros((height, width, 3), np.float32)
    for step in (4, 12, 40, 120):
        coarse = random.uniform(0, 64, (height // step + 1, width // step + 1, 3)).astype(np.float32)
        total += coarse.repeat(step, 0).repeat(step, 1)[:height, :width]
    return total


def described_video(path: Path) -> dict:
    """The row of a video as the corpus holds it."""
    from verified.io.video import probe

    return {"video": path.stem, "path": str(path), **probe(path)}
