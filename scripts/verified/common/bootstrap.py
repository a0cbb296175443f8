"""Bootstrap intervals and paired tests over units that were drawn independently (queries, moments)."""

import numpy as np

from verified.common.seeds import generator

BLOCK = 64  # resamples held in memory at once


def resampled_means(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Means of bootstrap resamples: `values` [units, columns] → [resamples, columns]; all columns share the draws."""
    values = np.asarray(values, dtype=np.float64)
    units = len(values)
    random = generator(seed, "bootstrap", units, resamples)
    means = np.empty((resamples, values.shape[1]))
    for start in range(0, resamples, BLOCK):
        size = min(BLOCK, resamples - start)
        counts = random.multinomial(units, np.full(units, 1 / units), size=size)
        means[start : start + size] = counts @ values / units
    return means


def interval(means: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval of resampled statistics [resamples, …] → (low […], high […])."""
    tail = (1 - level) / 2
    return np.quantile(means, tail, axis=0), np.quantile(means, 1 - tail, axis=0)


def mean_interval(values: np.ndarray, resamples: int, seed: int, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of `values` [units] with its bootstrap interval: (mean, low, high). NaN for no units."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return float("nan"), float("nan"), float("nan")
    low, high = interval(resampled_means(values[:, None], resamples, seed), level)
    return float(values.mean()), float(low[0]), float(high[0])


def paired_p_value(first: np.ndarray, second: np.ndarray, resamples: int, seed: int) -> float:
    """Two-sided paired bootstrap p-value of a difference in means between two [units] arrays of the same units."""
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if not difference.any():
        return 1.0
    means = resampled_means(difference[:, None], resamples, seed)[:, 0]
    tail = min((means <= 0).mean(), (means >= 0).mean())
    return float(min(1.0, max(2 * tail, 1 / resamples)))
