"""Frames to H.264: the same frames give the same bytes with any number of cores, at any date."""

import os
from fractions import Fraction

import av
import numpy as np
from av.codec.context import Flags

from verified.io.files import atomic_path

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
