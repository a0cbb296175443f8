"""One data set: the source of its videos and captions, and the settings the paper gives per data set."""

from pydantic import Field, model_validator

from verified.config.base import Line, Section
from verified.config.sources import Source

RESERVED = {
    "annotations",
    "audit",
    "captions",
    "corpus",
    "evaluator",
    "export",
    "features",
    "figures",
    "keyframes",
    "perturbations",
    "report",
    "retrieval",
    "review",
    "statistics",
    "study",
    "tables",
    "weights",
}
"""Folders of stages below results/NAME: no data set may be called so."""


class Keyframes(Section):
    """Keyframe selection (section 3.1 and 3.4)."""

    segments: int = Field(default=3, ge=1)
    """L: at most this many segments, and so keyframes, per moment."""
    min_scene_seconds: float = Field(default=0.6, gt=0)
    """Shortest segment, in seconds."""
    threshold: float = Field(default=27.0, gt=0)
    """Content threshold that the adaptive search starts from (PySceneDetect's default)."""


class Dynamics(Section):
    """Frames given to the video LMM (section 3.4): either a rate or a number."""

    fps: float | None = Field(default=8.0, gt=0)
    """Frames per second, or null when `frames` is given."""
    frames: int | None = Field(default=None, ge=2)
    """Number of uniformly spaced frames, or null when `fps` is given."""
    max_frames: int = Field(default=64, ge=2)
    """The model's limit; longer clips are thinned uniformly and counted."""

    @model_validator(mode="after")
    def one_of_both(self):
        if (self.fps is None) == (self.frames is None):
            raise ValueError("give either fps or frames, and set the other to null")
        return self


class Spans(Section):
    """Retrieval settings per data set (supplement B.1)."""

    clip_seconds: float = Field(default=1.0, gt=0)
    """Clip length in seconds."""
    min_pred_clips: int = Field(default=2, ge=0)
    """min_pred_l: smallest index distance end - start of a predicted span."""
    max_pred_clips: int = Field(default=12, ge=1)
    """max_pred_l: the index distance end - start stays below this."""
    max_context_clips: int = Field(default=48, ge=2)
    """max_ctx_l: most clips of a video."""
    nms_threshold: float = Field(default=0.6, gt=0, le=1)
    """tIoU above which a lower-ranked span is suppressed."""
    train_split: str = "train"
    """Split that models are trained on."""
    selection_split: str = "val"
    """Split for early stopping and model selection."""
    test_split: str = "test"
    """Split that tables report."""
    held_out_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of the train split's videos that become the split `held-out`, for corpora without a selection split."""


class Proposals(Section):
    """Moments proposed for videos without annotations: a `folder` source whose `moments` are null."""

    threshold: float = Field(default=27.0, gt=0)
    """Content threshold of a cut (PySceneDetect's default)."""
    min_seconds: float = Field(default=2.0, ge=0)
    """A shorter scene joins a neighbour."""
    max_seconds: float = Field(default=20.0, gt=0)
    """A longer scene is cut into equal parts."""
    train_share: float = Field(default=0.8, ge=0, le=1)
    """Share of the videos whose moments go to the train split."""
    val_share: float = Field(default=0.1, ge=0, le=1)
    """Share of the videos whose moments are in the selection split; the rest is the test split."""

    @model_validator(mode="after")
    def possible(self):
        if self.train_share + self.val_share > 1:
            raise ValueError("train_share and val_share are more than all videos")
        if self.min_seconds > self.max_seconds:
            raise ValueError("min_seconds is above max_seconds")
        return self


class DataSet(Section):
    """One corpus with its source and settings."""

    title: Line
    """Name used in tables."""
    source: Source
    keyframes: Keyframes = Keyframes()
    dynamics: Dynamics = Dynamics()
    proposals: Proposals = Proposals()
    spans: Spans = Spans()
