"""What leaves the project for others to use (`verified export`)."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section

Form = Literal[
    "hugging-face",
    "webdataset",
    "csv",
    "tvr",
    "qvhighlights",
    "activitynet-captions",
    "charades-sta",
    "mteb",
    "lmms-eval",
]


class Export(Section):
    """Forms in which annotations are exported, and the contents of their cards."""

    forms: tuple[Form, ...] = (
        "hugging-face",
        "webdataset",
        "csv",
        "tvr",
        "qvhighlights",
        "activitynet-captions",
        "charades-sta",
        "mteb",
        "lmms-eval",
    )
    """Forms that `verified export` writes where none are named; each is a folder below results/…/export."""
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the data set, for its cards."""
    creators: tuple[str, ...] = ()
    """People or groups who publish it, for its cards."""
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of its page, for its cards; null: it has none yet."""
    reviewer_names: bool = False
    """Whether rows name who reviewed them (did they agree?); otherwise they say reviewer 1, reviewer 2, …"""
    media: bool = False
    """Whether clips and keyframes go into the WebDataset shards (may you distribute them?); no other form has any."""
    clip_side: int = Field(default=360, ge=64, multiple_of=2)
    """Longest side of exported clips, in pixels; smaller videos keep their size."""
    shard_captions: int = Field(default=500, ge=1)
    """Captions in a WebDataset shard, at most."""
