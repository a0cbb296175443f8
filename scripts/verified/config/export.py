"""Settings of the export of annotations (`verified export`)."""

from typing import Literal, get_args

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


class Statements(Section):
    """Statements that only the people behind a data set can make, for its cards and Croissant; null: omitted."""

    limitations: str | None = Field(default=None, min_length=1)
    """What it does not cover, and what it should not be used for."""
    biases: str | None = Field(default=None, min_length=1)
    """Which people, places and things are over- or under-represented, as far as known."""
    sensitive_information: str | None = Field(default=None, min_length=1)
    """What personal or sensitive information the videos and captions hold, or that there is none."""
    use_cases: str | None = Field(default=None, min_length=1)
    """What it is made for, and for what it was shown to serve."""
    social_impact: str | None = Field(default=None, min_length=1)
    """What good or harm its use may do, and what was done about the harm."""


class Export(Section):
    """Forms in which annotations are exported, and the contents of their cards."""

    forms: tuple[Form, ...] = get_args(Form)
    """Forms that `verified export` writes where none are named; each is a folder below results/…/export."""
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the data set, for its cards."""
    creators: tuple[str, ...] = ()
    """People or groups who publish it, for its cards."""
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of its page, for its cards; null: it has none yet."""
    statements: Statements = Statements()
    reviewer_names: bool = False
    """Whether rows name who reviewed them (did they agree?); otherwise they say reviewer 1, reviewer 2, …"""
    clean: bool = False
    """Whether what the audit found is left out, of all forms."""
    media: bool = False
    """Whether clips and keyframes go into the WebDataset shards (may you distribute them?); no other form has any."""
    clip_side: int = Field(default=360, ge=64, multiple_of=2)
    """Longest side of exported clips, in pixels; smaller videos keep their size."""
    shard_captions: int = Field(default=500, ge=1)
    """Captions in a WebDataset shard, at most."""
