"""Settings of an index besides its files, as its job receives them."""

from typing import Literal

from verified.config.base import Section
from verified.config.datasets import Spans


class FrameSettings(Section):
    """Settings of feature extraction from videos, to extract another one in the same way."""

    backbone: str
    revision: str = ""
    fps: float
    precision: Literal["float32", "bfloat16"]
    batch: int


class IndexSettings(Section):
    """Settings to build an index of a data set."""

    model: str
    dataset: str
    title: str
    spans: Spans
    text_encoder: str
    text_revision: str = ""
    features: FrameSettings | None
    """None for features that were supplied as files."""
    thumbnails: int
    searched_videos: int
    seed: int
    threads: int = 1
