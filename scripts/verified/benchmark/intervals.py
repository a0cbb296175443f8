"""95 % intervals and paired comparisons of means over queries, videos and trainings, for the whole project.

Videos are drawn with all of their queries, and trainings of a model are drawn, each from many: a mean over both has

    variance = videos + trainings - shared,

as in two-way clustered errors (Cameron, Gelbach and Miller, 2011). "videos" is the jackknife over whole videos of the
mean over trainings, "trainings" the variance of the trainings' means by their number. Both include the interaction of
training and video, so "shared" subtracts it once. Student's t with the effective degrees of freedom of that sum
(Satterthwaite, 1946) accounts for as few as two trainings. Bounds of a share are computed on its logit, so that they
stay within 0 and 1. A single training shows no variance: its interval covers the draw of videos alone, and a comparison
with it has no p-value. benchmarks/significance.py shows the coverage, docs/measurements.md its table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LEVEL = 0.95
SIGNIFICANT = 1 - LEVEL
"""A difference is significant if p is below this."""


@dataclass(frozen=True)
class Interval:
    """Means, or their differences, with 95 % intervals: arrays of one shape, in the unit of the values."""

    value: np.ndarray
    low: np.ndarray
    """NaN, as `high`, if there are fewer than two videos."""
    high: np.ndarray
    p: np.ndarray | None = None
    """Two-sided, of a difference; None where a side has one training."""


def mean_interval(values: np.ndarray, videos: Sequence[object] | np.ndarray, top: float = 1.0) -> Interval:
    """Means over trainings and queries, [columns], of `values` [trainings, queries, columns] within 0 and `top`.

    `videos` [queries] names the video (the movie, the moment, …) that each query was drawn with.
    """
    sums, sizes = _sum_by_video(np.asarray(values, dtype=np.float64) / top, videos)
    share = _share_interval(sums, sizes)
    return Interval(top * share.value, top * share.low, top * share.high)


def mean_of_training(
    values: np.ndarray, videos: Sequence[object] | np.ndarray, top: float = 1.0, unit: float = 1.0
) -> dict[str, Any]:
    """Means of a single training over queries, of `values` [queries, ...] from 0 to `top`, times `unit`: ``value`` with
    bounds ``low``, ``high``, and ``intra_class``, the correlation of queries of a video; lists [...] of plain numbers.

    None if undefined for these queries: of a single video, for example, all but the value.
    """
    names, shape = ("value", "low", "high", "intra_class"), values.shape[1:]
    if not len(values):
        return {name: np.full(shape, None).tolist() for name in names}
    columns = values.reshape(1, len(values), -1).astype(np.float64)
    mean, correlation = mean_interval(columns, videos, top), intra_class_correlation(columns, videos)
    arrays = (unit * mean.value, unit * mean.low, unit * mean.high, correlation)
    return {name: _plain(array.reshape(shape)) for name, array in zip(names, arrays)}


def share_interval(hits: np.ndarray, trials: np.ndarray) -> Interval:
    """A share, all hits by all trials: `hits` [units] of `trials` [units], counts of units that were drawn."""
    hits, trials = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    share = _share_interval(hits[None, :, None], trials)
    return Interval(share.value[0], share.low[0], share.high[0])


def difference(
    first: np.ndarray,
    second: np.ndarray,
    videos: Sequence[object] | np.ndarray,
    top: float = 1.0,
    trained: tuple[bool, bool] = (True, True),
) -> Interval:
    """The first mean minus the second, [columns], of values [trainings, queries, columns] on the same queries.

    Queries are paired, trainings are not. If one side has a single training, the interval covers the draw of videos
    alone and there is no p; a side that was not `trained` has no such noise.
    """
    (x, sizes), (y, _) = (
        _sum_by_video(np.asarray(values, dtype=np.float64) / top, videos) for values in (first, second)
    )
    value = (x.sum(axis=1).mean(axis=0) - y.sum(axis=1).mean(axis=0)) / sizes.sum()
    deviations = [_deviations(sums, sizes) for sums in (x, y)]
    over_videos = _jackknife(deviations[0].mean(axis=0) - deviations[1].mean(axis=0))
    sides = [side for side, is_trained in zip(zip((x, y), deviations), trained) if is_trained]
    single = any(len(sums) == 1 for sums, _ in sides)
    noise = [] if single else [_noise(sums, deviation, sizes) for sums, deviation in sides]
    variance, freedom = _combine_variances(over_videos, len(sizes) - 1, noise)
    error = np.sqrt(variance)
    reach = _reach(freedom) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(value == 0, 1.0, _two_sided_p(np.abs(value) / error, freedom))
    p = None if single else np.where(np.isnan(error), np.nan, p)
    return Interval(top * value, top * np.maximum(value - reach, -1), top * np.minimum(value + reach, 1), p)


def intra_class_correlation(values: np.ndarray, videos: Sequence[object] | np.ndarray) -> np.ndarray:
    """[columns] correlation of the queries of one video within a training, by one-way analysis of variance.

    `values` [trainings, queries, columns]; the mean over trainings. 0 for independent queries, 1 if those of a video
    are equal; NaN if all values are equal, or no video has two queries.
    """
    values = np.asarray(values, dtype=np.float64)
    sums, sizes = _sum_by_video(values, videos)
    queries, count = sizes.sum(), len(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = ((sums - sizes[:, None] * values.mean(axis=1, keepdims=True)) ** 2 / sizes[:, None]).sum(axis=1)
        within = (values**2).sum(axis=1) - (sums**2 / sizes[:, None]).sum(axis=1)
        between, within = between / (count - 1), np.maximum(within, 0) / (queries - count)
        typical = (queries - (sizes**2).sum() / queries) / (count - 1)
        each = (between - within) / (between + (typical - 1) * within)
    mask = np.isfinite(each)
    return np.where(mask.any(axis=0), np.where(mask, each, 0).sum(axis=0) / np.maximum(mask.sum(axis=0), 1), np.nan)


def typical_correlation(correlations: Iterable[float | None]) -> str:
    """Text of a note on the intra-class correlations of a table's cells, as far as known."""
    values = [number for number in correlations if number is not None and not np.isnan(number)]
    if not values:
        return "not known"
    return f"{np.median(values):.2f} (median of the cells, {min(values):.2f} to {max(values):.2f})"


def _sum_by_video(values: np.ndarray, videos: Sequence[object] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums [trainings, videos, columns] and numbers of queries [videos]."""
    names, owner = np.unique(np.asarray(videos), return_inverse=True)
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=len(names)).astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    return np.add.reduceat(values[:, order], starts, axis=1), sizes


def _deviations(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Change of each mean when a video is omitted, [trainings, videos, columns], with its sign turned."""
    means = sums.sum(axis=1, keepdims=True) / sizes.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return (sums - sizes[:, None] * means) / (sizes.sum() - sizes)[:, None]


def _jackknife(deviations: np.ndarray) -> np.ndarray:
    """Variance [columns] of a mean from its `_deviations` [videos, columns]; NaN for a single video."""
    count = len(deviations)
    return (deviations**2).sum(axis=0) * (count - 1) / count if count > 1 else np.full(deviations.shape[1:], np.nan)


def _noise(sums: np.ndarray, deviations: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Variance [columns] that trainings bring into their mean, the part of it that videos bring too, and T - 1."""
    count = len(sums)
    trainings = (sums.sum(axis=1) / sizes.sum()).var(axis=0, ddof=1) / count
    apart = deviations - deviations.mean(axis=0)
    both = sum((_jackknife(row) for row in apart), np.zeros_like(trainings))
    return trainings, both / (count * (count - 1)), count - 1


def _combine_variances(
    videos: np.ndarray, freedom: int, noise: list[tuple[np.ndarray, np.ndarray, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Variance and effective degrees of freedom [columns]; never below the variance of videos or trainings alone."""
    trainings = sum((alone for alone, _, _ in noise), np.zeros_like(videos))
    shared = sum((shared for _, shared, _ in noise), np.zeros_like(videos))
    variance = np.maximum(videos + trainings - shared, np.maximum(videos, trainings))
    squares = videos**2 / max(freedom, 1)
    for alone, both, less in noise:
        squares = squares + alone**2 / less + both**2 / (less * max(freedom, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return variance, np.where(squares > 0, variance**2 / squares, max(freedom, 1))


def _reach(freedom: np.ndarray) -> np.ndarray:
    """Student's t that a draw stays within in 95 of 100 cases."""
    # Imported here: showing tables without computing any should not wait for it.
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs] (it has none)

    return stdtrit(freedom, (1 + LEVEL) / 2)


def _two_sided_p(t: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Share of draws beyond ±t."""
    from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs] (it has none)

    return 2 * stdtr(freedom, -t)


def _share_interval(sums: np.ndarray, sizes: np.ndarray) -> Interval:
    value = sums.sum(axis=1).mean(axis=0) / sizes.sum()
    deviations = _deviations(sums, sizes)
    noise = [_noise(sums, deviations, sizes)] if len(sums) > 1 else []
    variance, freedom = _combine_variances(_jackknife(deviations.mean(axis=0)), len(sizes) - 1, noise)
    inside = (value > 0) & (value < 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a reach beyond numbers ends at 0 and 1
        reach = _reach(freedom) * np.sqrt(variance) / (value * (1 - value))
        low, high = (1 / (1 + np.exp(-(np.log(value / (1 - value)) + sign * reach))) for sign in (-1, 1))
    # No query right, or all: the rate at which so many videos would show this in 2.5 of 100 draws.
    rare = (1 - LEVEL) / 2
    unseen = 1 - rare ** (1 / len(sizes)) if len(sizes) > 1 else np.nan
    low = np.where(inside, low, np.where(value >= 1, 1 - unseen, 0 * unseen))
    high = np.where(inside, high, np.where(value <= 0, unseen, 1 + 0 * unseen))
    return Interval(value, low, high)


def _plain(numbers: np.ndarray) -> Any:
    plain = numbers.astype(object)
    plain[np.isnan(numbers)] = None
    return plain.tolist()


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
    """Trainings of the side with fewer, or of the only trained one; None if both are untrained."""
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
    gap = difference(first[:, :, None], second[:, :, None], videos, top, trained)
    means = first.mean(axis=0), second.mean(axis=0)
    sides = np.sign(means[0] - means[1])
    value, low, high = (float(number[0]) for number in (gap.value, gap.low, gap.high))
    wins, losses, equal = (int((sides == side).sum()) for side in (1, -1, 0))
    p = None if gap.p is None else float(gap.p[0])
    ours, theirs = (float(mean.mean()) for mean in means)
    counts = [len(side) for side, is_trained in zip((first, second), trained) if is_trained]
    return Paired(ours, theirs, value, low, high, p, min(counts, default=None), wins, losses, equal)
