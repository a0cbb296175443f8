"""Probing, sampling and keyframes of a video, beside decord and PySceneDetect; the limit is a bare decode by PyAV.

    python benchmarks/video.py                             # 30 s of 360p, a minute with making it
    python benchmarks/video.py --height 720 --seconds 180  # others, made once as well

What is counted is the video's frames a second, however many are kept: decoding all of them is the limit. Key frames
stand 10 s apart.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from made_video import FPS, made_video
from sides import Row, Side, asked, compare, side

SAMPLING_FPS, UNIFORM, MOMENTS = 8, 64, 12


def main() -> None:
    options = asked(__doc__, seconds=30, height=360)
    seconds, height = (8, 120) if options.tiny else (options.seconds, options.height)
    path, frames = made_video(seconds, height), seconds * FPS
    compare(options.turns, *rows(path, seconds, frames))


def rows(path: Path, seconds: int, frames: int) -> list[Row]:
    """Everything that reads the whole video, and three frames of it."""
    from scenedetect import ContentDetector, detect

    from verified.io.video import frames_of_spans, probe, read_frames

    whole, three = [(0.0, float(seconds))], [0.2 * seconds, 0.5 * seconds, 0.9 * seconds]
    work = {
        "probing and digest": lambda: probe(path),
        f"{SAMPLING_FPS} frames a second of moments of 3 s": lambda: sample(path, np.arange(0, seconds, 3.0).tolist()),
        f"{UNIFORM} frames, evenly spread": lambda: list(frames_of_spans(path, whole, count=UNIFORM)),
        "three frames": lambda: read_frames(path, three),
    }
    bare = side("bare decode", lambda: decode(path), frames)
    made = [Row(what, "frames", side("ours", do, frames), by_decord(do, frames), bare) for what, do in work.items()]
    made[0] = made[0]._replace(beside=None)  # always by PyAV
    made[-1] = made[-1]._replace(limit=None)  # most of the video is skipped
    keys = key_frames(path)

    def jump() -> None:
        for start in keys:  # each opens the file
            sample(path, [start])

    jumps = side("ours", jump, len(keys)), by_decord(jump, len(keys))
    made.append(Row("a moment of 3 s from a key frame on", "moments", *jumps))
    own = side("ours", lambda: keyframes(path, seconds), frames)
    one_pass = side("PySceneDetect", lambda: detect(str(path), ContentDetector(), backend="pyav"), frames)
    return [*made, Row(f"scores and keyframes of {MOMENTS} moments", "frames", own, one_pass, bare)]


def sample(path: Path, starts: list[float]) -> None:
    """8 frames a second of three seconds from each start on."""
    from verified.io.video import frames_of_spans

    for _ in frames_of_spans(path, [(start, start + 3.0) for start in starts], fps=SAMPLING_FPS):
        pass


def key_frames(path: Path) -> list[float]:
    """Times of the key frames behind the first, in seconds; of the first where there is no other."""
    import av

    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.is_keyframe and packet.pts is not None]
        return [float(packet.pts * packet.time_base) for packet in packets[1:] or packets]


def keyframes(path: Path, seconds: int) -> None:
    """Content scores of the video, and keyframes of twelve moments of six seconds."""
    from verified.keyframes.extract import extract_keyframes

    moments = [(start, start + 6.0) for start in np.linspace(0, seconds - 6.0, MOMENTS).tolist()]
    for _ in extract_keyframes(path, moments, 5, 27.0, 0.6):
        pass


def decode(path: Path) -> int:
    """Every frame, and nothing done with it, in one thread."""
    import av

    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        return sum(1 for _ in container.decode(video=0))


def by_decord(work: Callable[[], object], frames: int) -> Side | None:
    """The same work with decord as the reader, where it is installed."""
    from verified.io.video_reader import READER

    def run() -> None:
        os.environ[READER] = "decord"
        try:
            work()
        finally:
            del os.environ[READER]

    return side("by decord", run, frames) if importlib.util.find_spec("decord") else None


if __name__ == "__main__":
    sys.exit(main())
