"""The embedded synthetic demo as a source."""

from typing import ClassVar, Literal

from pydantic import Field

from verified.config.sources.section import SourceSection


class DemoSource(SourceSection):
    """The embedded synthetic demo, rendered as H.264 files from the seed."""

    has_videos: ClassVar[bool] = True
    annotated_here: ClassVar[bool] = True
    has_truth: ClassVar[bool] = True
    rendered: ClassVar[bool] = True
    comparable: ClassVar[bool] = False
    origin: ClassVar[str] = "demo corpus, rendered; not comparable with any figure of the paper"

    kind: Literal["demo"] = "demo"
    videos: int = Field(default=160, ge=6)
    """Number of videos to render."""
    seconds: int = Field(default=20, ge=4)
    """Length of each video in seconds."""
    fps: int = Field(default=8, ge=2)
    """Frames per second."""
    size: int = Field(default=112, ge=64, multiple_of=16)
    """Width and height in pixels."""
    train_share: float = Field(default=0.55, gt=0, lt=1)
    """Share of the videos in the train split."""
    val_share: float = Field(default=0.10, gt=0, lt=1)
    """Share of the videos in the val split; the rest is test."""

    def split_names(self) -> set[str]:
        return {"train", "val", "test"}

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": f"{corpus}/videos", "moments": f"{corpus}/rendered.jsonl"}
