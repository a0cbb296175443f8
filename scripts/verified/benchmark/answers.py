"""Queries of a benchmark and the answers of a submission to each, as comparisons need them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

Prediction = tuple[str, float, float]
"""Video, start and end in seconds."""


@dataclass(frozen=True)
class Query:
    """Properties of a query in the ground truth; None where it states none."""

    id: int | str
    video: str
    """The video, or movie, that it is about."""
    start: float
    end: float
    caption: str
    kind: str | None = None
    duration: float | None = None
    spans: tuple[tuple[float, float], ...] = ()
    """All its spans, where it may have several: of annotators, or windows; `start` and `end` are the first of them."""


@dataclass(frozen=True)
class Answers:
    """One submission, query by query, in the order of the ground truth."""

    values: dict[str, np.ndarray]
    """{metric: [Q]} from 0 to 1."""
    ranks: np.ndarray
    """[Q] rank, from 1, of the first right answer at tIoU 0.5; infinity without one."""
    first: list[Prediction | None]
    """[Q] the first span that is answered."""


class GroundTruth(Protocol):
    """A ground truth in the form of one benchmark, which scores submissions in that form."""

    compared: tuple[str, ...]
    """Default metrics for comparing runs; queries are grouped by the first metric that exists."""
    shown: tuple[str, ...]
    """Metrics of the table of scores, which is ordered by the first."""
    ending: str
    """Of the name of a submission."""

    def queries(self) -> list[Query]:
        """All queries."""
        ...

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """Score a submission, after suppressing spans whose tIoU with a better one exceeds `nms_threshold`.

        Raises InputError unless it answers every query and no other.
        """
        ...
