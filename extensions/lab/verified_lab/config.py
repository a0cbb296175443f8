"""Sections of the lab: pages of a review, the audit of queries, metrics of captions against people."""

from typing import Literal

from pydantic import Field

from verified.config import Config
from verified.config.base import Section
from verified.config.folders import shown_datasets


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


class MetaEvaluation(Section):
    """Number of judged captions, and the judge's input."""

    moments: int = Field(default=100, ge=2)
    """Moments drawn, all of whose candidates are judged; of a reviewed corpus, every reviewed caption is."""
    frames: int = Field(default=8, ge=2)
    """Uniform frames of a moment that `generation.video_lmm` is shown as judge."""


def judged_datasets(settings: Config) -> list[str]:
    """Keys of the shown data sets whose candidates are judged, by the demo's truth or by reviewers."""
    if not settings.has(MetaEvaluation):
        return []
    shown = shown_datasets(settings, "annotated_here")
    return [name for name in shown if settings.datasets[name].source.has_truth or settings.annotations.review]
