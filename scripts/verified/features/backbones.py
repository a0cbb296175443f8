"""Image backbones by name."""

from typing import Protocol

import numpy as np

from verified.demo.stand_ins.paths import shipped_backbone

SMALL_RESNET = "small-resnet"


class Backbone(Protocol):
    """Turns frames, uint8 RGB [N, size, size, 3], into features, float32 [N, dim]."""

    size: int
    dim: int
    crop: bool
    """Whether frames keep their proportions and are cropped to the middle square, rather than squeezed into it."""

    def __call__(self, frames: np.ndarray) -> np.ndarray: ...


def load_backbone(name: str, precision: str = "float32") -> Backbone:
    """A backbone by its name.

    `small-resnet` and `grid-conv` (always float32) come with the workflow; any other name is that of an image model
    (microsoft/resnet-152) or a CLIP on the hub, or of a folder that holds one.
    """
    if name == SMALL_RESNET:
        name = shipped_backbone()
    if name == "grid-conv":
        from verified.features.grid_conv import GridConv

        return GridConv()
    from verified.features.clip import Clip, is_clip

    if is_clip(name):
        return Clip(name, precision)
    from verified.features.image_model import ImageModel

    return ImageModel(name, precision)
