"""The Fine-Granularity Aware Noise Evaluator (section 3.3)."""

from typing import Literal

from pydantic import Field

from verified.config.base import Section


class Evaluator(Section):
    """Architecture, pre-training stand-in, fine-tuning and scoring."""

    name: str = "demo"
    """Folder name under results/evaluator: one checkpoint for all data sets of a config."""
    size: Literal["tiny", "L/16"] = "tiny"
    """Model size."""
    threads: int = Field(2, ge=1)
    """Compute threads of its jobs."""
    frames: int = Field(8, ge=2)
    """Frames per moment (20 in the paper)."""
    image_size: int = Field(64, ge=16)
    """Frame size in pixels (224 in the paper)."""
    epochs: int = Field(4, ge=1)
    """Fine-tuning epochs (10 in the paper)."""
    batch: int = Field(16, ge=2)
    """Moments per step over all processes."""
    learning_rate: float = Field(1e-4, gt=0)
    """Peak learning rate (1e-5 in the paper)."""
    splits: tuple[str, ...] = ("train", "val", "test")
    """Splits whose perturbations are trained on; the paper used all."""
    hard_negatives: Literal["all", "own", "none"] = "all"
    """Which perturbed captions stand in Equation 9's denominator; none also drops them from Equation 10."""
    matching_normaliser: Literal["batch", "pairs"] = "batch"
    """Normaliser of Equation 10: B as written, or the number of pairs."""
    confidence: Literal["z1", "margin"] = "margin"
    """Which reading of the two-way head is the confidence score."""
