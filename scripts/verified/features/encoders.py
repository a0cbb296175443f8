"""Joint encoders, which see frames and read sentences into one space: by name, CLIP, SigLIP, or the packaged one."""

from typing import Protocol

import numpy as np
from PIL import Image

from verified.config.features import PACKAGED_JOINT
from verified.errors import InputError
from verified.nn.sentences import PACKAGED as PACKAGED_SENTENCES

KINDS = ("clip", "siglip")
"""`model_type` of the models of the hub that are joint encoders here."""


class Backbone(Protocol):
    """Turns frames, uint8 RGB [N, size, size, 3], into features, float32 [N, dim]."""

    size: int
    dim: int
    crop: bool
    """Whether frames keep their proportions and are cropped to the middle square, rather than squeezed into it."""

    def __call__(self, frames: np.ndarray) -> np.ndarray: ...


class JointEncoder(Backbone, Protocol):
    """A backbone that also reads texts into (tokens [L, dim], sentence [dim]) each, in the space of frames."""

    together: int
    """Frames that are encoded with regard to one another, in groups of so many neighbours."""

    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]: ...


def whole_sentences(encoder: JointEncoder, texts: list[str]) -> np.ndarray:
    """The sentence features alone, float32 [N, dim], of one text at least; the packaged encoder takes half as long."""
    from verified.features.packaged import PackagedJoint

    if isinstance(encoder, PackagedJoint):
        return encoder.whole_sentences(texts)
    return np.stack([whole for _, whole in encoder.sentences(texts)])


def from_sentence_model(encoder: JointEncoder, model: str, vectors: np.ndarray) -> np.ndarray | None:
    """The sentence features, float32 [N, dim], of sentences whose vectors by `model` [N, dim] already exist."""
    from verified.features.packaged import PackagedJoint

    return encoder.of_sentences(vectors) if isinstance(encoder, PackagedJoint) and model == PACKAGED_SENTENCES else None


def joint_kind(name: str) -> str:
    """`packaged-joint`, or the model type of a hub name or folder that holds a joint encoder; empty for any other."""
    if name == PACKAGED_JOINT:
        return name
    from transformers import AutoConfig

    try:
        kind = AutoConfig.from_pretrained(name).model_type
    except (OSError, ValueError):
        return ""
    return kind if kind in KINDS else ""


def load_joint(name: str, precision: str = "float32") -> JointEncoder:
    """A joint encoder by its name. Raises InputError for any other model, or one that cannot be loaded."""
    kind = joint_kind(name)
    if kind == PACKAGED_JOINT:
        from verified.features.packaged import PackagedJoint

        return PackagedJoint(precision)
    if kind:
        from verified.features.hub_models import Clip, SigLip

        return (SigLip if kind == "siglip" else Clip)(name, precision)
    raise InputError(
        f"{name!r} is no joint encoder of frames and sentences that can be loaded",
        remedy=f"give {PACKAGED_JOINT}, a CLIP or SigLIP model of the hub, such as openai/clip-vit-base-patch32, or a"
        " folder that holds one",
    )


def fit(picture: Image.Image, encoder: JointEncoder) -> np.ndarray:
    """A picture as uint8 RGB [size, size, 3]: its middle square where the encoder asks for that, else squeezed."""
    if encoder.crop:
        side = min(picture.size)
        left, top = (picture.width - side) // 2, (picture.height - side) // 2
        picture = picture.crop((left, top, left + side, top + side))
    return np.asarray(picture.convert("RGB").resize((encoder.size, encoder.size), Image.Resampling.BICUBIC))
