"""A picture or a clip as query: bounded before it is decoded, decoded in a process of its own, and nothing of it stays.

Its first bytes say what it is, its size is that of the file, and its header has its pixels. The process sends frames as
the encoder sees them, and ends with them, after a limit of time, or of memory.
"""

import argparse
import io
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import verified
from verified.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

MIB = 1024 * 1024
PICTURE, CLIP = "picture", "clip"
BYTES = {PICTURE: 20 * MIB, CLIP: 200 * MIB}
PIXELS = {PICTURE: 50_000_000, CLIP: 4096 * 2304}
"""Most bytes of a file, and pixels of a frame."""
FRAMES = 8
"""Frames of a clip, at the middles of equal parts."""
LONGEST = 60.0
"""Most seconds of a clip."""
PATIENCE = 60
"""Seconds of a process; of the processor, half of them."""
MEMORY = 4096 * MIB
"""Bytes of addresses of a process."""


class Example(NamedTuple):
    """A file as query."""

    kind: str
    """PICTURE or CLIP."""
    path: Path
    start: float = 0.0
    """Seconds, of a clip."""
    end: float | None = None
    """None: to the end of the clip, or LONGEST."""


def kind_of(head: bytes) -> str:
    """PICTURE or CLIP by the first bytes of a file; empty for anything else."""
    if head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")) or (head[:4], head[8:12]) == (b"RIFF", b"WEBP"):
        return PICTURE
    if head[4:8] == b"ftyp" or head.startswith(b"\x1aE\xdf\xa3") or (head[:4], head[8:12]) == (b"RIFF", b"AVI "):
        return CLIP
    return ""


def frames_of(example: Example, size: int, crop: bool) -> np.ndarray:
    """Frames uint8 RGB [N, size, size, 3] of a picture (N = 1) or a clip; their middle squares with `crop`.

    Raises InputError for a file that is missing, of another kind, too large, or cannot be decoded.
    """
    kind, path, start, end = example
    if not path.is_file():
        raise InputError("no such file", file=path)
    with path.open("rb") as file:
        found = kind_of(file.read(16))
    if found != kind:
        forms = {PICTURE: "JPEG, PNG or WebP", CLIP: "MP4, WebM, Matroska or AVI"}
        raise InputError(f"no {kind} by its first bytes", file=path, remedy=f"give a {kind} as {forms[kind]}")
    if path.stat().st_size > BYTES[kind]:
        raise InputError(f"larger than {BYTES[kind] // MIB} MiB", file=path, remedy=f"give a smaller {kind}")
    if end is not None and not 0 <= start < end:
        raise InputError(f"from {start:g} to {end:g} s is no span", file=path, remedy="end it after its start")
    command = [sys.executable, "-m", __name__, kind, str(path.resolve()), repr(start), repr(end or 0.0), str(size)]
    packages = (str(Path(file).resolve().parents[1]) for file in (__file__, verified.__file__))
    paths = os.pathsep.join(filter(None, (*packages, os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [*command, *(["--crop"] if crop else [])], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
            env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError("takes too long to decode", file=path, remedy=f"give a smaller {kind}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace")
        problem = said.partition("problem: ")[2].strip() or "cannot be decoded"
        raise InputError(problem, file=path, remedy=f"give another {kind}")
    return np.load(io.BytesIO(done.stdout), allow_pickle=False)


def _picture(path: Path, size: int, crop: bool) -> np.ndarray:
    from PIL import Image, ImageOps

    with Image.open(path, formats=("JPEG", "PNG", "WEBP")) as picture:  # reads the header alone
        _check_pixels(picture.width, picture.height, PICTURE)
        return _square(ImageOps.exif_transpose(picture), size, crop)[None]


def _clip(path: Path, start: float, end: float, size: int, crop: bool) -> np.ndarray:
    from PIL import Image

    from verified.io.video import open_video, read_frames

    with open_video(path) as video:
        context = video.stream.codec_context
        _check_pixels(context.width, context.height, CLIP)
        end = end or min(video.claimed_end or start + LONGEST, start + LONGEST)
    end = min(max(end, start), start + LONGEST)
    times = start + (np.arange(FRAMES) + 0.5) * (end - start) / FRAMES
    frames, shown = read_frames(path, times)
    if start > 0 and shown.max() < start - 1:
        raise ValueError(f"it ends before {start:g} s")
    return np.stack([_square(Image.fromarray(frame), size, crop) for frame in frames])


def _check_pixels(width: int, height: int, kind: str) -> None:
    if not 0 < width * height <= PIXELS[kind]:
        raise ValueError(f"{width} × {height} pixels, at most {PIXELS[kind]:,}")


def _square(picture: "Image.Image", size: int, crop: bool) -> np.ndarray:
    from PIL import Image, ImageOps

    whole = picture.convert("RGB")
    if crop:
        return np.asarray(ImageOps.fit(whole, (size, size), Image.Resampling.BICUBIC))
    return np.asarray(whole.resize((size, size), Image.Resampling.BICUBIC))


def main(kind: str, path: Path, start: float, end: float, size: int, crop: bool) -> None:
    """Write the frames of one file to the standard output; runs in a process of its own."""
    from verified.io.video import VideoError

    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE // 2, PATIENCE // 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    warnings.simplefilter("ignore")
    try:
        frames = _picture(path, size, crop) if kind == PICTURE else _clip(path, start, end, size, crop)
    except (OSError, ValueError, SyntaxError, MemoryError, InputError, VideoError) as error:
        sys.exit(f"problem: {error if isinstance(error, ValueError) else 'cannot be decoded'}")
    np.save(sys.stdout.buffer, frames)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("path", type=Path)
    for name in ("start", "end"):
        parser.add_argument(name, type=float)
    parser.add_argument("size", type=int)
    parser.add_argument("--crop", action="store_true")
    main(**vars(parser.parse_args()))
