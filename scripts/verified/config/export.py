"""Settings of the export of annotations (`verified export`)."""

from pydantic import Field

from verified.config.base import Section

HUGGING_FACE = "hugging-face"


class Statements(Section):
    """Statements that only the people behind a data set can make, for its cards and Croissant; null: omitted."""

    limitations: str | None = Field(default=None, min_length=1)
    """Limits of its coverage, and uses to avoid."""
    biases: str | None = Field(default=None, min_length=1)
    """Which people, places and things are over- or under-represented, if known."""
    sensitive_information: str | None = Field(default=None, min_length=1)
    """Personal or sensitive information in videos and captions, or that there is none."""
    use_cases: str | None = Field(default=None, min_length=1)
    """Its purpose, and the uses it was shown to serve."""
    social_impact: str | None = Field(default=None, min_length=1)
    """Benefit and harm that its use may do, and measures against the harm."""


class Export(Section):
    """Forms in which annotations are exported, and the contents of their cards."""

    forms: tuple[str, ...] = (HUGGING_FACE,)
    """Default forms of `verified export`; each is a folder below results/…/export."""
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the data set, for its cards."""
    creators: tuple[str, ...] = ()
    """People or groups who publish it, for its cards."""
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of its page, for its cards; null: no page yet."""
    statements: Statements = Statements()
    reviewer_names: bool = False
    """Whether rows name who reviewed them (did they agree?); otherwise they say reviewer 1, reviewer 2, …"""
    clean: bool = False
    """Whether annotations with a finding, such as those of an audit, are omitted from all forms."""
