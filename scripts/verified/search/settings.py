"""What an index depends on beside its files, as its job gets it."""

from typing import Literal

from verified.config.base import Section
from verified.config.datasets import Spans


class FrameSettings(Section):
    """How features were extracted from videos, so that one more is extracted in the same way."""

    backbone: str
    revision: str = ""
    fps: float
    precision: Literal["float32", "bfloat16"]
    batch: int


class IndexSettings(Section):
    """How an index is built of a data set."""

    model: str
    dataset: str
    title: str
    spans: Spans
    text_encoder: str
    text_revision: str = ""
    features: FrameSettings | None
    """None for features that were supplied as files."""
    exact_clips: int
    thumbnails: int
    searched_videos: int
    seed: int
    threads: int = 1
