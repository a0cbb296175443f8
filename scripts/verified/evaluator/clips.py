"""Clips on the disk: raw frames for the small sizes, H.264 streams for the paper's, which would take 390 GB raw."""

import logging
from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np

from verified.common.errors import InputError

log = logging.getLogger("verified")
QUALITY = 23
"""x264's constant rate factor: its default. Real clips of 60 frames took 270 to 280 kB at 256 pixels, 35 to 39 dB."""
RATE = 10
"""Frames per second that a stream claims; nothing depends on it."""


def encoded(frames: np.ndarray) -> bytes:
    """uint8 RGB [n, H, W, 3] (H and W even) as one H.264 stream in which each frame leans on the one before it.

    One thread and plain C: more threads and x264's assembler paths change the bytes.
    """
    count, height, width, _ = frames.shape
    coder = av.CodecContext.create("libx264", "w")
    coder.width, coder.height, coder.pix_fmt, coder.framerate = width, height, "yuv420p", RATE
    coder.thread_count = 1
    details = f"no-asm=1:mbtree=1:rc-lookahead=10:bframes=0:keyint={count}:log-level=none"
    coder.options = {"crf": str(QUALITY), "preset": "superfast", "x264-params": details}
    packets = []
    for number, picture in enumerate(frames):
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts = number
        packets += coder.encode(frame)
    packets += coder.encode(None)
    return b"".join(bytes(packet) for packet in packets)


def decoded(stream: bytes) -> np.ndarray:
    """The frames of `encoded`, uint8 RGB [n, H, W, 3], but for what the coding lost."""
    coder = av.CodecContext.create("h264", "r")
    coder.thread_count = 1
    packets = [*coder.parse(stream), *coder.parse(b""), None]
    return np.stack([frame.to_ndarray(format="rgb24") for packet in packets for frame in coder.decode(packet)])


class CodedClips:
    """The clips of a shard, decoded as they are asked for: `clips[row]` is uint8 [n, H, W, 3].

    `index` are the rows that `gather_clips` wrote; `stream` in them is [first byte, bytes].
    """

    def __init__(self, path: Path, index: Sequence[dict]):
        self.bytes = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8)
        self.streams = [row.get("stream") for row in index]
        end = max((start + size for start, size in filter(None, self.streams)), default=0)
        if end > len(self.bytes):
            raise InputError(f"{len(self.bytes)} bytes, but its index names {end}", file=path, remedy="gather it again")

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, row: int) -> np.ndarray:
        start, size = self.streams[row]
        return decoded(self.bytes[start : start + size].tobytes())


def open_clips(path: str | Path, index: Sequence[dict]) -> np.ndarray | CodedClips:
    """The clips of a shard: `clips[row]` is uint8 [n, H, W, 3] for a row of `index` without a `reason`."""
    path = Path(path)
    return np.load(path, mmap_mode="r") if path.suffix == ".npy" else CodedClips(path, index)
