"""Settings of the pages on which people review captions."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section


class Review(Section):
    """Size and order of the review pages."""

    moments: int = Field(default=50, ge=1)
    """Moments on a page, which holds their clips; a page is one reviewer's work of an hour or so."""
    clip_side: int = Field(default=320, ge=64, multiple_of=2)
    """Longest side of the clips shown, in pixels; smaller videos keep their size."""
    context: float = Field(default=2.0, ge=0)
    """Seconds of video before and after each moment in its clip, so that a start or an end can be moved outwards."""
    order: Literal["doubt", "corpus"] = "doubt"
    """doubt: the moments whose caption the evaluator scores lowest come first, near-duplicates of a video together;
    corpus: the order of the corpus."""
