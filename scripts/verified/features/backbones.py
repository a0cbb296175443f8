"""Image backbones by name."""

from typing import Protocol

import numpy as np

from verified.config.features import PACKAGED, SMALL_RESNET
from verified.demo.pretrained.paths import shipped_backbone


class Backbone(Protocol):
    """Turns frames, uint8 RGB [N, size, size, 3], into features, float32 [N, dim]."""

    size: int
    dim: int
    crop: bool
    """Whether frames keep their proportions and are cropped to the middle square, rather than squeezed into it."""

    def __call__(self, frames: np.ndarray) -> np.ndarray: ...


def load_backbone(name: str, precision: str = "float32") -> Backbone:
    """A backbone by its name.

    `small-resnet` and `grid-conv` (always float32) come with the workflow, `packaged` and `packaged-joint` with the
    installed packages; any other name is that of an image model (microsoft/resnet-152), a CLIP or a SigLIP on the hub,
    or of a folder that holds one.
    """
    if name == SMALL_RESNET:
        name = shipped_backbone()
    if name == "grid-conv":
        from verified.features.grid_conv import GridConv

        return GridConv()
    from verified.features.joint import joint_kind, load_joint

    if name == PACKAGED:
        from verified.features.packaged import Packaged

        return Packaged(precision)
    if joint_kind(name):
        return load_joint(name, precision)
    from verified.features.image_model import ImageModel

    return ImageModel(name, precision)
