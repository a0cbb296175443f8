"""Video and text features (supplement B.1)."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section

PACKAGED, PACKAGED_JOINT = "packaged", "packaged-joint"
"""The image encoder of the installed packages: its features, and those in the space of sentences."""
PACKAGED_KNOWS = "knows 1,000 classes of things, and neither people nor what they do"
"""Limits of both packaged encoders; their card says more."""

CAPTIONS = {"cog": ("cog", "cog_desc"), "fig": ("fig", "fig_desc"), "fig-lowest": ("fig-lowest", "fig_desc")}
"""Text features by name: their annotations and the key of the caption."""
SMALL_RESNET = "small-resnet"
"""The shipped image backbone, which has seen no real picture, and reads no sentences."""

OF_BOTH = ("batch", "gpu", "threads")
OF_VIDEO = (*OF_BOTH, "fps", "precision", "video_backbone", "video_revision")
"""Fields of `Features` that video features depend on."""
OF_TEXT = (*OF_BOTH, "text_encoder", "text_revision")
"""Fields of `Features` that text features depend on."""


class Features(Section):
    """Backbones, rates and number formats."""

    video_backbone: str = ""
    """Image backbone: packaged (EfficientNet-Lite0, trained on photographs), packaged-joint (its classes as sentence
    vectors), small-resnet (trained on separate synthetic frames), a hub name (microsoft/resnet-152, a CLIP such as
    openai/clip-vit-base-patch32, a SigLIP), a folder; empty: small-resnet if all data sets are the rendered demo, else
    packaged.
    """
    video_revision: str = ""
    """Branch, tag or commit of a hub model in `video_backbone`; empty: its main branch. The lock pins the commit."""
    fps: float = Field(default=4.0, gt=0)
    """Frames per second that are encoded, max-pooled per clip."""
    text_encoder: str = "all-MiniLM-L6-v2"
    """Token feature encoder: all-MiniLM-L6-v2 (packaged) or a hub name or folder such as roberta-base."""
    text_revision: str = ""
    """The same for `text_encoder`."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Number format of the image backbone; the text encoder computes in float32."""
    batch: int = Field(default=64, ge=1)
    """Frames or captions per forward pass."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""
    gpu: int = Field(default=0, ge=0, le=1)
    """GPUs of one of its jobs."""
