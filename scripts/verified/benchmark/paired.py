"""Paired comparison of two models on the same queries, for every benchmark, table and command."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verified.benchmark.intervals import difference


@dataclass(frozen=True)
class Paired:
    """The first model minus the second on the same queries, in the unit of the values."""

    first: float
    second: float
    value: float
    low: float
    """NaN, as `high`, if there are fewer than two videos."""
    high: float
    p: float | None
    """Two-sided; None where a side has one training, NaN for a single video."""
    trainings: int | None
    """Trainings of the side with fewer, or of the only trained one; None if neither was trained."""
    wins: int
    """Queries that the first model answers better, on the mean over its trainings."""
    losses: int
    equal: int


def compare_paired(
    first: np.ndarray,
    second: np.ndarray,
    videos: Sequence[object] | np.ndarray,
    top: float = 100.0,
    trained: tuple[bool, bool] = (True, True),
) -> Paired:
    """Compare values [trainings, queries] from 0 to `top`; `videos` [queries] are drawn with all of their queries.

    Queries are paired, trainings are not: see `difference` for the interval and p.
    """
    found = difference(first[:, :, None], second[:, :, None], videos, top, trained)
    means = first.mean(axis=0), second.mean(axis=0)
    sides = np.sign(means[0] - means[1])
    value, low, high = (float(number[0]) for number in (found.value, found.low, found.high))
    wins, losses, equal = (int((sides == side).sum()) for side in (1, -1, 0))
    p = None if found.p is None else float(found.p[0])
    ours, theirs = (float(mean.mean()) for mean in means)
    counts = [len(side) for side, is_trained in zip((first, second), trained) if is_trained]
    return Paired(ours, theirs, value, low, high, p, min(counts, default=None), wins, losses, equal)
