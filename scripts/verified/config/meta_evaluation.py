"""Settings of the comparison of caption metrics with human judgements (`verified meta-evaluate`)."""

from pydantic import Field

from verified.config.base import Section


class MetaEvaluation(Section):
    """Number of judged captions, and the judge's input."""

    moments: int = Field(default=100, ge=2)
    """Moments drawn, all of whose candidates are judged; of a reviewed corpus, every reviewed caption is."""
    frames: int = Field(default=8, ge=2)
    """Uniform frames of a moment that `generation.video_lmm` is shown as judge."""
