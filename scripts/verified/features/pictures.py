"""Pictures in the form that joint encoders look at."""

import numpy as np
from PIL import Image

from verified.features.joint import JointEncoder


def fit(picture: Image.Image, encoder: JointEncoder) -> np.ndarray:
    """A picture as uint8 RGB [size, size, 3]: its middle square where the encoder asks for that, else squeezed."""
    if encoder.crop:
        side = min(picture.size)
        left, top = (picture.width - side) // 2, (picture.height - side) // 2
        picture = picture.crop((left, top, left + side, top + side))
    return np.asarray(picture.convert("RGB").resize((encoder.size, encoder.size), Image.Resampling.BICUBIC))
