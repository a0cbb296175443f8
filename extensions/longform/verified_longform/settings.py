"""Settings that the measures of a method depend on, as jobs get them."""

from verified.benchmark.tiou import Comparison
from verified.config.base import Section
from verified_longform.config import GridSettings
from verified_longform.grid import Grid


class Testing(Section):
    """Settings of a test on a data set of movies."""

    grid: GridSettings
    nms_threshold: float
    iou_cmp: Comparison
    lengths: tuple[float | None, ...]
    """Seconds of the segments that movies are cut into; None for whole movies."""
    chance_runs: int
    search_batch: int
    threads: int
    seed: int


def make_grid(settings: GridSettings) -> Grid:
    """The proposals that the section `longform.grid` describes."""
    return Grid(**settings.model_dump())
