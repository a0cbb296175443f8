"""The user study (Table 3, supplement D)."""

from pydantic import Field

from verified.config.base import Section


class Study(Section):
    """Size of the user study and of its clips."""

    captions: int = Field(default=50, ge=1)
    """Statics captions, and as many dynamics captions, drawn per data set."""
    questions: int = Field(default=30, ge=1)
    """Questions per participant, at most."""
    raters: int = Field(default=3, ge=2)
    """Participants who answer each question."""
    clip_side: int = Field(default=360, ge=64, multiple_of=2)
    """Longest side of the clips shown, in pixels; smaller videos keep their size."""
