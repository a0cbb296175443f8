"""Training and testing of the retrieval models (section 4, supplement B)."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section


class Retrieval(Section):
    """Which models are trained, and how long."""

    models: tuple[str, ...] = ("xml",)
    """Names from the model registry."""
    seeds: tuple[int, ...] = (2018,)
    """One training per seed."""
    epochs: int = Field(100, ge=1)
    """Most epochs of training."""
    patience: int = Field(10, ge=1)
    """Epochs without improvement of VCMR 0.5-r1 + 0.7-r1 after which training stops."""
    batch: int = Field(128, ge=2)
    """Query-video pairs per step."""
    learning_rate: float = Field(1e-4, gt=0)
    """Peak learning rate."""
    threads: int = Field(1, ge=1)
    """Compute threads of its jobs."""
    bootstrap: int = Field(1000, ge=100)
    """Resamples behind each interval."""
    external_score: Literal["exp", "cosine"] = "exp"
    """Reading of XML's score in two-stage models."""
