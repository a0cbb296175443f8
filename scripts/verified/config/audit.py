"""The audit of queries and spans (`verified audit`)."""

from pydantic import Field

from verified.config.base import Section


class Audit(Section):
    """Thresholds of the audit of queries."""

    tolerance: float = Field(default=0.0, ge=0)
    """Seconds by which a span may end after its video."""
    distance: float = Field(default=0.01, ge=0, lt=2)
    """Cosine distance of caption vectors up to which two queries of a video say the same."""
    same_span: float = Field(default=0.5, gt=0, le=1)
    """tIoU from which two queries that say the same are about one span."""
    agreed_share: float = Field(default=0.8, gt=0.5, le=1)
    """Share of the grounders that have to agree before their span is held against the annotated one."""
    agreed_tiou: float = Field(default=0.5, gt=0, le=1)
    """tIoU from which a grounder agrees with the consensus."""
    most_tiou: float = Field(default=0.5, gt=0, le=1)
    """tIoU of the consensus and the annotated span below which they disagree."""
    min_runs: int = Field(default=3, ge=2)
    """Grounders, each training counted, that have to answer a query."""
    max_alike: float = Field(default=0.85, ge=0.75, lt=1)
    """Share of equal bits in the hashes of two videos' frames, over half of the shorter one, above which they show the
    same."""
