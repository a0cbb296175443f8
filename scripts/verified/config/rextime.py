"""Questions across time (the ReXTime suite): sources, filters, generation, annotation pages, prices."""

from typing import Literal

from pydantic import Field, model_validator

from verified.config.base import Section


class CaptionFilters(Section):
    """Filters of captioned videos; a switch where the text leaves a reading open."""

    long_share: float = Field(0.8, gt=0, le=1)
    """An event longer than this share of its video is long."""
    long_event: Literal["drop_event", "drop_video", "keep"] = "drop_event"
    """What a long event costs: itself, its video, or nothing."""
    min_coverage: float = Field(0.6, ge=0, le=1)
    """A video whose segments cover less than this share of it is sparsely captioned and dropped."""
    coverage: Literal["sum", "union"] = "sum"
    """Lengths of the segments added up, or the length of their union."""
    coverage_on: Literal["all", "after_long"] = "all"
    """Whether long events count for coverage."""
    gap_seconds: float = Field(10, ge=0)
    """A gap of more than this between events separates two clusters."""
    cluster_ties: Literal["earliest", "longest"] = "earliest"
    """Which of the clusters with the most events is kept."""


class QueryFilters(Section):
    """Filters of queries with windows."""

    tolerance_seconds: float = Field(0, ge=0)
    """A window that starts and ends this close to the clip's ends is the whole clip."""


class RextimeSource(Section):
    """Where events come from: a file of annotations, or the corpus of a data set of this configuration."""

    form: Literal["captions", "queries"]
    """captions: several timed captions a video (ActivityNet Captions form); queries: a query and its window."""
    split: str = Field("val", pattern=r"^[a-z0-9][a-z0-9_-]*$")
    """Split that the questions go to. Questions of a split called train get no wrong options."""
    annotations: str | None = None
    """File in the form's own format."""
    dataset: str | None = None
    """Data set of this configuration whose moments are used instead of a file."""
    videos: str | None = None
    """Folder of the video files, named by video id; needed for queries, models and pages. Data sets have their own."""

    @model_validator(mode="after")
    def one_origin(self):
        if (self.annotations is None) == (self.dataset is None):
            raise ValueError("a source has either `annotations` (a file) or `dataset` (a name)")
        return self
