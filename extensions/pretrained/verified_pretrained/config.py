"""The section `pretrained`: both trainings, of the image network and of the evaluator of size tiny."""

from typing import Annotated

from pydantic import Field

from verified.config.base import Operational, Section


class Pretrained(Section):
    """Training of the weights that come with the workflow, on frames and clips apart from those of the demo."""

    brings_data = True
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""
    frames: int = Field(default=8, ge=2)
    """Frames of a clip that the evaluator sees."""
    image_size: int = Field(default=112, ge=16, multiple_of=16)
    """Frame size in pixels."""
    backbone_frames: int = Field(default=150_000, ge=1)
    """Synthetic frames for training the image network."""
    backbone_batch: int = Field(default=64, ge=2)
    """Frames per step of that training."""
    backbone_learning_rate: float = Field(default=2e-3, gt=0)
    """Peak learning rate of that training."""
    pretrain_clips: int = Field(default=30_000, ge=1)
    """Synthetic clips for pre-training the evaluator, each seen once."""
    pretrain_batch: int = Field(default=24, ge=2)
    """Clips per step of pre-training."""
    pretrain_learning_rate: float = Field(default=1.5e-3, gt=0)
    """Peak learning rate of pre-training."""
    save_seconds: Annotated[float, Operational("a resumed training ends in the same bytes")] = Field(default=60.0, ge=0)
    """Least time between two states of a training on disk, from which a killed one resumes."""
