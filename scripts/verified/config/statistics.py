"""Statistics of the annotations (section 3.5, supplement A)."""

from pydantic import Field

from verified.config.base import Section


class Statistics(Section):
    """Parameters of the many-to-many clustering and the language statistics."""

    distance: float = Field(0.01, gt=0, lt=2)
    """Cosine distance below which two captions count as alike (DBSCAN's eps)."""
    min_samples: int = Field(2, ge=2)
    """DBSCAN's min_samples, the point itself included."""
    spacy_model: str = "en_core_web_sm"
    """spaCy model for parts of speech and lemmas."""
