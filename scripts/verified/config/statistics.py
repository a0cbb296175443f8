"""Statistics of the annotations (section 3.5, supplement A)."""

from pydantic import Field

from verified.config.base import Section


class Statistics(Section):
    """Parameters of the many-to-many clustering and the language statistics."""

    distance: float = Field(default=0.01, gt=0, lt=2)
    """Cosine distance below which two captions count as similar (DBSCAN's eps)."""
    min_samples: int = Field(default=2, ge=1)
    """DBSCAN's min_samples, the point itself included."""
    figure_min_samples: int = Field(default=16, ge=1)
    """DBSCAN's min_samples for the picture of clustered captions (supplement Figure 5)."""
    spacy_model: str = "en_core_web_sm"
    """spaCy model for parts of speech and lemmas."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of the sentence encoder and processes of spaCy."""
