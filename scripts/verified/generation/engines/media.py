"""Requests in the forms that engines take them: pictures, data URLs, text without control tokens."""

import base64
import gc
import io
from collections.abc import Iterable

import numpy as np
from PIL import Image

from verified.generation.request import Request

JPEG_QUALITY = 92


def jpeg_of(frame: np.ndarray) -> bytes:
    """A frame (uint8 RGB [H, W, 3]) as a JPEG file."""
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def data_url(image: bytes) -> str:
    """An encoded JPEG or PNG as a data URL."""
    kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def pictures(request: Request) -> list[Image.Image]:
    """Images, then frames of a request, decoded, RGB. Raises OSError or ValueError for one that cannot be decoded."""
    found = []
    for image in request.images:
        with Image.open(io.BytesIO(image)) as opened:
            found.append(opened.convert("RGB"))
    if request.frames is not None:
        found += [Image.fromarray(frame) for frame in request.frames]
    return found


def without_control_tokens(text: str, tokens: Iterable[str]) -> str:
    """`text` in which no control token of the model can be read, such as ``<image>`` or ``[INST]`` in a caption.

    Each is split by a space after its first character.
    """
    for token in sorted(filter(lambda token: len(token) > 1, tokens), key=len, reverse=True):
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def free_gpu_memory() -> None:
    """Hand what unloaded models held back to the GPU."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
