"""Clips of moments: frames cut out of the videos once, stored raw or as H.264 streams, and read again by row."""

import contextlib
import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_array
from verified.io.files import atomic_path
from verified.io.jsonl import write_jsonl
from verified.io.video import VideoError, frames_of_spans
from verified.runtime.previous_output import PreviousOutput
from verified.runtime.progress import Progress

log = logging.getLogger("verified")
QUALITY = 23
"""x264's constant rate factor: its default. Real clips of 60 frames took 270 to 280 kB at 256 pixels, 35 to 39 dB."""
RATE = 10
"""Nominal frames per second of a stream, without effect."""


def encode_frames(frames: np.ndarray) -> bytes:
    """uint8 RGB [n, H, W, 3] (H and W even) as one H.264 stream in which each frame is coded from the one before it.

    One thread and plain C: more threads and x264's assembler paths change the bytes.
    """
    count, height, width, _ = frames.shape
    coder = av.CodecContext.create("libx264", "w")
    coder.width, coder.height, coder.pix_fmt, coder.framerate = width, height, "yuv420p", Fraction(RATE)
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


def decode_frames(stream: bytes) -> np.ndarray:
    """The frames that `encode_frames` took, uint8 RGB [n, H, W, 3], except for coding losses."""
    coder = av.CodecContext.create("h264", "r")
    coder.thread_count = 1
    packets = [*coder.parse(stream), *coder.parse(b""), None]
    return np.stack([frame.to_ndarray(format="rgb24") for packet in packets for frame in coder.decode(packet)])


class CodedClips:
    """The clips of a shard, decoded on access: `clips[row]` is uint8 [n, H, W, 3].

    `index` are the rows that `gather_clips` wrote; `stream` in them is [first byte, bytes].
    """

    def __init__(self, path: Path, index: Sequence[dict]):
        self.bytes = _map_bytes(path)
        self.streams: list[Any] = [row.get("stream") for row in index]
        end = max((start + size for start, size in filter(None, self.streams)), default=0)
        if end > len(self.bytes):
            raise InputError(f"{len(self.bytes)} bytes, but its index names {end}", file=path, remedy="gather it again")

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, row: int) -> np.ndarray:
        start, size = self.streams[row]
        return decode_frames(self.bytes[start : start + size].tobytes())


def open_clips(path: str | Path, index: Sequence[dict]) -> np.ndarray | CodedClips:
    """The clips of a shard: `clips[row]` is uint8 [n, H, W, 3] for a row of `index` without a `reason`."""
    path = Path(path)
    return read_array(path, 5, "gather it again") if path.suffix == ".npy" else CodedClips(path, index)


TOO_SHORT = "shorter-than-two-frames"
NO_VIDEO = "no-video"
NO_FRAMES = "no-frames-in-moment"


def gather_clips(
    moments: list[dict],
    videos: list[dict],
    frames: int,
    frames_per_interval: int,
    image_size: int,
    clip_side: int | None,
    clips: str | Path,
    index: str,
    maker: str = "",
) -> dict[str, int]:
    """Write the clips and one index row per moment; returns the number of moments by reason ("" for usable ones).

    A moment's [start, end) is cut into `frames` equal intervals and each interval into `frames_per_interval` parts,
    whose middle frames are stored. Without `clip_side`, `clips` is uint8 [moments, frames·frames_per_interval,
    image_size, image_size, 3] (RGB, .npy; black and never read if a moment has no clip). With it, `clips` holds one
    H.264 stream after the other, in the videos' proportions with shorter sides of `clip_side` pixels, or fewer where
    the video has fewer. An index row holds desc_id, video, `reason` (null, or why the moment has no clip) and, for
    streams, `stream`. With a `maker`, its earlier clips of the same videos and spans are copied (see
    `runtime.previous_output`).
    """
    by_video = {video["video"]: video for video in videos}
    rows = [{"desc_id": moment["desc_id"], "video": moment["video"], "reason": None} for moment in moments]
    numbers_of: dict[str, list[int]] = {}
    for number, moment in enumerate(moments):
        video = by_video.get(moment["video"])
        if video is None:
            rows[number]["reason"] = NO_VIDEO
        elif (moment["end"] - moment["start"]) * video["fps"] < 2 - 1e-6:
            rows[number]["reason"] = TOO_SHORT
        else:
            numbers_of.setdefault(moment["video"], []).append(number)
    progress = Progress("clips", sum(map(len, numbers_of.values())), "moments")
    count = frames * frames_per_interval
    spans_of = {
        name: [(moments[number]["start"], moments[number]["end"]) for number in numbers]
        for name, numbers in numbers_of.items()
    }
    keys = {name: f"{by_video[name]['sha256']} {spans}" for name, spans in spans_of.items()} if maker else {}
    earlier, made = PreviousOutput(clips, maker), dict[str, list[tuple[int, list[int]]]]()
    cached_keys, before = earlier.reusable(keys.values()), _map_bytes(earlier.file)
    raw = (len(moments), count, image_size, image_size, 3) if clip_side is None else None
    with atomic_path(clips) as temporary, _writer(temporary, raw) as write:
        for name, numbers in numbers_of.items():
            video, key, places = by_video[name], keys.get(name, ""), dict[int, list[int]]()
            size = (image_size, image_size) if clip_side is None else _stored_size(video, clip_side)
            failure = NO_FRAMES
            try:
                if key in cached_keys:
                    stored = ((span, before[at : at + length].tobytes()) for span, (at, length) in earlier.videos[key])
                else:
                    decoded = frames_of_spans(video["path"], spans_of[name], count=count, size=size)
                    stored = ((span, _stored(pictures, clip_side)) for span, pictures, _ in decoded if len(pictures))
                for span, clip in stored:
                    places[span] = write(numbers[span], clip)
                made[key] = [*places.items()]
            except VideoError as error:
                failure = error.reason
            for span, number in enumerate(numbers):
                if span not in places:
                    rows[number]["reason"] = failure
                elif clip_side is not None:
                    rows[number]["stream"] = places[span]
            progress.step(len(numbers))
    earlier.keep(made)
    progress.finish()
    write_jsonl(index, rows)
    return dict(Counter(row["reason"] or "" for row in rows))


def _stored_size(video: dict, side: int) -> tuple[int, int]:
    """Even height and width with a shorter side of `side` pixels; a smaller video keeps its size."""
    scale = min(1.0, side / min(video["height"], video["width"]))
    height, width = (max(2, 2 * round(video[name] * scale / 2)) for name in ("height", "width"))
    return height, width


def _stored(pictures: np.ndarray, clip_side: int | None) -> bytes:
    return pictures.astype(np.uint8).tobytes() if clip_side is None else encode_frames(pictures)


def _map_bytes(path: Path | None) -> np.ndarray:
    return np.memmap(path, np.uint8, "r") if path and path.stat().st_size else np.zeros(0, np.uint8)


@contextlib.contextmanager
def _writer(path: Path, raw: tuple[int, ...] | None) -> Iterator[Callable[[int, bytes], list[int]]]:
    """Yield write(row, clip), which returns the clip's place in the file: first byte and bytes. `raw` is the shape of
    an array of clips, None for streams."""
    with path.open("wb") as file:
        if raw:
            # No memory map: on a full disk, a write to it kills the process.
            np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": raw})
        first = file.tell()
        if raw:
            file.truncate(first + math.prod(raw))

        def write(row: int, clip: bytes) -> list[int]:
            if raw:
                file.seek(first + row * len(clip))
            start = file.tell()
            file.write(clip)
            return [start, len(clip)]

        yield write
