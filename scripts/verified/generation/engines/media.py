"""Images and frames in the forms that engines take them."""

import base64
import io

import numpy as np
from PIL import Image

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


def picture(image: bytes) -> Image.Image:
    """A decoded image, RGB. Raises OSError or ValueError for one that cannot be decoded."""
    with Image.open(io.BytesIO(image)) as opened:
        return opened.convert("RGB")
