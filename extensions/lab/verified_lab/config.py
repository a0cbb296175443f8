"""Sections of the lab: filters of moments, pages of a review, the audit of queries."""

from typing import Literal

from pydantic import Field, model_validator

from verified.config import Config
from verified.config.base import Section
from verified.config.folders import datasets_with


class Review(Section):
    """Review of captions: its pages, and the decisions that people saved from them."""

    moments: int = Field(default=50, ge=1)
    """Moments on a page, which holds their clips; a page is one reviewer's work of an hour or so."""
    clip_side: int = Field(default=320, ge=64, multiple_of=2)
    """Longest side of the clips shown, in pixels; smaller videos keep their size."""
    context: float = Field(default=2.0, ge=0)
    """Seconds of video before and after each moment in its clip, so that a start or an end can be moved outwards."""
    order: Literal["doubt", "corpus"] = "doubt"
    """doubt: the moments whose caption the evaluator scores lowest come first, near-duplicates of a video together;
    corpus: the order of the corpus."""
    decisions: tuple[str, ...] = ()
    """Files of decisions that reviewers saved from the pages (JSON Lines), merged into the annotations."""
    min_precision: float | None = Field(default=None, gt=0, le=1)
    """Share of captions that should be right: the smallest confidence is then measured on the reviewed captions."""

    @model_validator(mode="after")
    def measurable(self):
        if self.min_precision and not self.decisions:
            raise ValueError("min_precision is measured on reviewed captions: name files of decisions")
        return self


class Audit(Section):
    """Thresholds of the audit of queries."""

    tolerance: float = Field(default=0.0, ge=0)
    """Seconds by which a span may end after its video."""
    distance: float = Field(default=0.01, ge=0, lt=2)
    """Cosine distance of caption vectors up to which two queries of a video say the same."""
    same_span: float = Field(default=0.5, gt=0, le=1)
    """tIoU from which two queries that say the same are about one span."""
    agreed_share: float = Field(default=0.8, gt=0.5, le=1)
    """Share of the grounders that must agree before their span is compared with the annotated one."""
    agreed_tiou: float = Field(default=0.5, gt=0, le=1)
    """tIoU from which a grounder agrees with the consensus."""
    most_tiou: float = Field(default=0.5, gt=0, le=1)
    """tIoU of the consensus and the annotated span below which they disagree."""
    min_runs: int = Field(default=3, ge=2)
    """Grounders, each training counted, that have to answer a query."""
    max_alike: float = Field(default=0.85, ge=0.75, lt=1)
    """Share of equal bits in the hashes of two videos' frames, over half of the shorter one, above which they show the
    same."""


class Quality(Section):
    """Quality measures of each moment before any model call, and the limits that exclude moments.

    null: no limit. `corpus/shards/SHARD.quality.jsonl` has the measures.
    """

    fps: float = Field(default=2.0, gt=0)
    """Frames per second for measuring."""
    max_black: float | None = Field(default=None, ge=0, lt=1)
    """Share of frames that are black."""
    min_sharpness: float | None = Field(default=None, gt=0)
    """Variance of the Laplacian of the grey picture at 320 pixels, the median of the frames; blur is below 20."""
    min_motion: float | None = Field(default=None, gt=0)
    """Mean change of the grey values (0 to 255) between successive measured frames; stills are below 0.5."""
    max_text: float | None = Field(default=None, ge=0, lt=1)
    """Share of the picture under written text, such as captions burned in; needs the package rapidocr."""
    max_alike: float | None = Field(default=None, ge=0.945, lt=1)
    """Share of equal bits in the hashes of three frames (quality/repeats.py) above which a moment repeats an
    earlier one. All moments of the data set are compared."""
    min_loudness: float | None = Field(default=None, lt=0)
    """Level of the sound in dB below full scale, such as -60; a video without sound is below all."""
    transcripts: Literal["subtitles", "speech"] | None = None
    """Source of transcripts. subtitles: VIDEO.srt or VIDEO.vtt next to the video. speech: the same, and
    `generation.speech` for videos without. null: no transcripts.
    """
    min_speech: float | None = Field(default=None, gt=0, le=1)
    """Share of the moment with speech, by the transcript."""
    max_speech: float | None = Field(default=None, ge=0, lt=1)
    """The same, at most."""

    @model_validator(mode="after")
    def known(self):
        if self.transcripts is None and (self.min_speech is not None or self.max_speech is not None):
            raise ValueError("min_speech and max_speech need transcripts: subtitles or speech")
        return self


class Filters(Section):
    """Filters before any model call."""

    datasets: dict[str, Quality] = Field(default={})
    """Data set → limits of its moments; those that are not named keep all moments, and nothing is measured."""


def check(settings: Config) -> None:
    """Raise ValueError for filters of a data set that is not annotated here."""
    names = datasets_with(settings, "annotated_here")
    for name in limits(settings):
        if name not in names:
            raise ValueError(f"filters.datasets: {name!r} is no data set with videos; there are {', '.join(names)}")


def limits(settings: Config) -> dict[str, Quality]:
    """Limits of moments, by data set."""
    section = settings.section(Filters)
    return section.datasets if section else {}


def measured(settings: Config, name: str) -> dict[str, float | None]:
    """Settings of a data set's measurements: a changed limit repeats none, except for the first limit on text."""
    quality = limits(settings)[name]
    return {"fps": quality.fps, "max_text": None if quality.max_text is None else 0.0}
