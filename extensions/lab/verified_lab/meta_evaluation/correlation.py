"""Rank correlation of scores with human judgements of captions, and order within a clip.

All metrics are resampled together, by the units that the captions come from, so that two of them can be compared on the
same draws.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verified.benchmark.auroc import auroc
from verified.runtime.seeds import generator

MEASURES = ("kendall", "spearman", "auroc", "accuracy")
"""Kendall's tau-b and Spearman's rho, each the mean over people; the area between right and wrong captions; the share
of pairs of captions of one clip that are ordered as people order them, ties counting half."""
LEVEL = 0.95


@dataclass(frozen=True)
class Rated:
    """Human judgements of n captions."""

    grades: np.ndarray
    """[people, n], NaN for missing grades."""
    right: np.ndarray
    """[n]: 1 for a right caption, 0 for a wrong one, NaN if unknown."""
    clips: Sequence[object]
    """[n] the clip that a caption is about."""
    units: Sequence[object]
    """[n] unit of resampling, the video; clips do not cross its borders."""

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(better [pairs], worse [pairs]): places of captions of one clip that people grade differently in the mean."""
        mean = _mean(self.grades)
        of_clip: dict[object, list[int]] = {}
        for place in np.flatnonzero(~np.isnan(mean)).tolist():
            of_clip.setdefault(self.clips[place], []).append(place)
        ordered = [
            (first, second)
            for places in of_clip.values()
            for first in places
            for second in places
            if mean[first] > mean[second]
        ]
        better, worse = np.array(ordered, dtype=np.int64).reshape(-1, 2).T
        return better, worse


def measure(scores: np.ndarray, rated: Rated, pairs: tuple[np.ndarray, np.ndarray], weights: np.ndarray) -> np.ndarray:
    """`MEASURES` of `scores` [n], each caption counted `weights` [n] times; NaN if undefined."""
    correlations = [_correlations(scores, grades, weights) for grades in rated.grades]
    rated_right = ~np.isnan(rated.right)
    area = auroc(scores[rated_right], rated.right[rated_right] == 1, weights[rated_right])
    better, worse = pairs
    hits = (scores[better] > scores[worse]) + (scores[better] == scores[worse]) / 2
    trials = weights[better].sum()
    accuracy = (weights[better] * hits).sum() / trials if trials else np.nan
    return np.array([*_mean(np.array(correlations).reshape(-1, 2)), area, accuracy])


def _correlations(scores: np.ndarray, grades: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """(tau, rho), each caption counted `weights` times."""
    from scipy.stats import kendalltau  # pyright: ignore[reportMissingTypeStubs] (it has none)

    mask = ~np.isnan(grades) & (weights > 0)
    scores, grades, weights = scores[mask], grades[mask], weights[mask]
    if not len(scores) or not np.ptp(scores) or not np.ptp(grades):
        return np.nan, np.nan
    tau = kendalltau(np.repeat(scores, weights), np.repeat(grades, weights))[0]
    # Not scipy's spearmanr, which ranks repeated items and takes twice as long.
    spread = np.cov(mean_ranks(scores, weights), mean_ranks(grades, weights), fweights=weights)
    return float(np.asarray(tau)), float(spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1]))


def mean_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[n] ranks from 1 of `values` [n], counted `weights` [n] times each; ties share their mean rank."""
    _, group = np.unique(values, return_inverse=True)
    counts = np.bincount(group, weights)
    return (np.cumsum(counts) - (counts - 1) / 2)[group]


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean over people of `values` [people, …]; NaN without a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nobody graded it, or all grades of each person are equal
        return np.nanmean(values, axis=0)


def compare_metrics(
    scores: Mapping[str, np.ndarray], rated: Rated, resamples: int, seed: int
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Value, low and high of each metric and measure, and the `gap` to the first metric with gap_low and gap_high.

    `scores` [n] by metric, without gaps. The bounds hold 95 % of `resamples` draws of units; None if undefined for
    these captions.
    """
    names, unit = np.unique(np.asarray(rated.units, dtype=str), return_inverse=True)
    pairs, whole = rated.pairs(), np.ones(len(unit), dtype=np.int64)
    values = np.stack([measure(metric, rated, pairs, whole) for metric in scores.values()])
    random, even = generator(seed, "metrics", len(names), resamples), np.full(len(names), 1 / len(names))
    drawn = np.empty((resamples, *values.shape))
    for draw in range(resamples):
        weights = random.multinomial(len(names), even)[unit]
        drawn[draw] = [measure(metric, rated, pairs, weights) for metric in scores.values()]
    bounds, gaps = _bounds(drawn), _bounds(drawn - drawn[:, :1])
    return {
        metric: {
            name: {
                "value": _plain(values[row, column]),
                "low": _plain(bounds[0, row, column]),
                "high": _plain(bounds[1, row, column]),
                "gap": _plain(values[row, column] - values[0, column]),
                "gap_low": _plain(gaps[0, row, column]),
                "gap_high": _plain(gaps[1, row, column]),
            }
            for column, name in enumerate(MEASURES)
        }
        for row, metric in enumerate(scores)
    }


def _bounds(drawn: np.ndarray) -> np.ndarray:
    """[2, …] of draws [resamples, …]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # undefined in every draw
        return np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else round(float(number), 6)
