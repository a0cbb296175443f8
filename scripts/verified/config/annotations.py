"""The annotations that are written, and what the lint looks for in them."""

from pydantic import Field

from verified.config.base import Section


class Annotations(Section):
    """Export of annotations."""

    licence: str = Field("not stated", min_length=1)
    """Licence of the captions, as the dataset card shall state it."""
