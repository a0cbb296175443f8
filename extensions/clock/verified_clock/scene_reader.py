"""Answers of the demo's engine to the clock test: it looks for each colour in the frames."""

import io
import json
import re

import numpy as np
from PIL import Image

from verified.lmm.request import Reply, Request
from verified_clock.clip import PAINTS


def answer(request: Request) -> Reply:
    """The second of the first frame that shows each colour; a frame's time is stated, or its own."""
    if request.frames is None:
        frames = [np.asarray(Image.open(io.BytesIO(image)).convert("RGB")) for image in request.images]
        times = [float(number) for number in re.findall(r": ([\d.]+)$", request.slots["times"], re.M)]
    else:
        frames, times = list(request.frames), list(request.frame_times)
    first_times = {}
    for frame, time in zip(frames, times, strict=True):
        middle = frame[frame.shape[0] // 2, frame.shape[1] // 2].astype(int)
        colour = min(PAINTS, key=lambda name: int(np.abs(middle - PAINTS[name]).sum()))
        if np.abs(middle - PAINTS[colour]).sum() < 60:
            first_times.setdefault(colour, time)
    return Reply(json.dumps({"seconds": [first_times.get(colour, 0.0) for colour in PAINTS]}))
