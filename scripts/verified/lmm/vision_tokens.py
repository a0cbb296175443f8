"""Tokens of a picture or a frame of a clip, for models whose rule is published.

The rules are those of the models' own processors in transformers (LLaVA-NeXT's "anyres", Qwen2-VL's and Qwen3-VL's
resizing) at the settings that their published checkpoints carry.
"""

import io
import math
import re

from verified.config.generation import EngineSettings
from verified.lmm.request import Request

LLAVA_SIDE, LLAVA_GRID = 336, 24
LLAVA_SHAPES = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))
"""Heights and widths that LLaVA-1.6 may resize a picture to."""
QWEN_TIMESTAMP = 8
"""Tokens of the time that Qwen3-VL writes before each pair of frames, about."""


def frame_tokens(role: EngineSettings, width: int, height: int) -> float | None:
    """Tokens of one picture of `width` by `height` pixels for this role; None without a known number or rule.

    Half as many for a frame of a video, which Qwen's models read in pairs.
    """
    if role.tokens_per_image:
        return float(role.tokens_per_image)
    name = role.model.lower()
    if re.search(r"llava[-_]?(v?1\.6|next)", name):
        return float(llava_next(width, height))
    if re.search(r"qwen(2|2\.5)[-_]?vl", name):
        return qwen(width, height, 28, role.video_input != "stills", (3136, 12_845_056), (100_352, 602_112))
    if re.search(r"qwen3[-_]?vl", name):
        video = role.video_input != "stills"
        return qwen(width, height, 32, video, (65_536, 16_777_216), (131_072, 786_432)) + video * QWEN_TIMESTAMP / 2
    return None


def picture_tokens(role: EngineSettings, request: Request) -> float:
    """Tokens of all pictures and frames of a request, if `frame_tokens` knows them."""
    from PIL import Image  # missing if only texts are asked

    sizes: list[tuple[int, int]] = []
    for image in request.images:
        with Image.open(io.BytesIO(image)) as picture:
            sizes.append(picture.size)
    if request.frames is not None:
        sizes += [(request.frames.shape[2], request.frames.shape[1])] * len(request.frames)
    return sum(frame_tokens(role, *size) or 0.0 for size in sizes)


def llava_next(width: int, height: int) -> int:
    """Tokens of a picture for LLaVA-1.6: the whole at 336 by 336, and the best grid of tiles without its padding."""
    best = max(LLAVA_SHAPES, key=lambda shape: _coverage(width, height, shape))
    rows, columns = best[0] // LLAVA_SIDE * LLAVA_GRID, best[1] // LLAVA_SIDE * LLAVA_GRID
    if width / height > columns / rows:
        side = round(height * (columns / width), 7)
        rows -= (rows - int(side)) // 2 * 2
    else:
        side = round(width * (rows / height), 7)
        columns -= (columns - int(side)) // 2 * 2
    return LLAVA_GRID**2 + rows * columns + rows  # a mark ends each row


def _coverage(width: int, height: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Pixels of the picture that a shape keeps, and, negative, those it wastes."""
    scale = min(shape[1] / width, shape[0] / height)
    covered = min(int(width * scale) * int(height * scale), width * height)
    return covered, covered - shape[0] * shape[1]


def qwen(width: int, height: int, unit: int, video: bool, picture: tuple[int, int], frame: tuple[int, int]) -> float:
    """Tokens of a picture for Qwen-VL: one for each `unit` by `unit` pixels, resized to between so many pixels."""
    least, most = frame if video else picture
    rows, columns = max(unit, round(height / unit) * unit), max(unit, round(width / unit) * unit)
    if rows * columns > most:
        scale = math.sqrt(height * width / most)
        rows, columns = (max(unit, math.floor(side / scale / unit) * unit) for side in (height, width))
    elif rows * columns < least:
        scale = math.sqrt(least / (height * width))
        rows, columns = (math.ceil(side * scale / unit) * unit for side in (height, width))
    tokens = (rows // unit) * (columns // unit)
    return tokens / 2 if video else tokens + 2.0  # the marks of begin and end
