"""Small videos made on the spot, for tests."""

import itertools
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np


def write_video(
    path: Path,
    images: Iterable[np.ndarray],
    fps: int | Fraction = 8,
    *,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    times: Sequence[float] | None = None,
    gop: int | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """Encode uint8 RGB images [H, W, 3] as a video; `times` (seconds, to the millisecond) make the rate variable."""
    images = iter(images)
    first = next(images)
    with av.open(str(path), "w", options=options or {}) as container:
        stream = container.add_stream(codec, rate=fps)
        stream.height, stream.width, stream.pix_fmt = *first.shape[:2], pixels
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if gop:
            stream.codec_context.gop_size = gop
        for number, image in enumerate(itertools.chain([first], images)):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            if times is not None:
                frame.pts, frame.time_base = round(times[number] * 1000), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def counted(count: int, size: tuple[int, int] = (48, 64)) -> list[np.ndarray]:
    """Images whose number can be read back with `number_of`: uniform grey 8 + 3·n (n < 80), noiseless."""
    return [np.full((*size, 3), 8 + 3 * (number % 80), np.uint8) for number in range(count)]


def number_of(image: np.ndarray) -> int:
    """The number of an image made by `counted`, after encoding and decoding."""
    return round((float(image.mean()) - 8) / 3)


def scenes(lengths: Sequence[int], seed: int = 0, size: tuple[int, int] = (48, 64)) -> list[np.ndarray]:
    """Images in scenes of the given lengths (frames), each of one strong colour with a little moving noise."""
    random = np.random.default_rng(seed)
    images = []
    for length in lengths:
        colour = random.integers(0, 256, 3)
        for _ in range(length):
            noise = random.integers(-6, 7, (*size, 1))
            images.append(np.clip(colour + noise, 0, 255).astype(np.uint8))
    return images


def set_display_rotation(data: bytes, turns: int) -> bytes:
    """Write into the track header of an MP4 file that players turn it `turns` quarters counter-clockwise."""
    at = data.index(b"tkhd") + 4 + 40  # version 0: version, flags, times, id, duration, layer, group, volume
    cos, sin = [(1, 0), (0, 1), (-1, 0), (0, -1)][turns]
    matrix = struct.pack(">9i", cos << 16, -sin << 16, 0, sin << 16, cos << 16, 0, 0, 0, 1 << 30)
    return data[:at] + matrix + data[at + 36 :]
