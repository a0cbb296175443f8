"""Bootstrap intervals and paired tests over units that were drawn independently (queries, moments) and over trainings.

Not scipy.stats.bootstrap: it resamples one level, and different draws for each statistic.
"""

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


def two_level_means(values: np.ndarray, resamples: int, seed: int, trainings: str) -> np.ndarray:
    """Means over trainings and units, both resampled: `values` [trainings, units, columns] → [resamples, columns].

    The draws of units depend on their number alone, so that means of other values of the same units can be subtracted:
    that difference is paired. The draws of trainings depend on the name `trainings` and are never paired. A single
    training is not resampled, and its noise is not in the result.
    """
    count, units, columns = values.shape
    by_training = resampled_means(values.swapaxes(0, 1).reshape(units, -1), resamples, seed)
    weights = _training_weights(count, resamples, seed, trainings)
    return (by_training.reshape(resamples, count, columns) * weights[:, :, None]).sum(axis=1)


def _training_weights(count: int, resamples: int, seed: int, name: str) -> np.ndarray:
    """Weights of trainings in each resample, [resamples, count]: drawn with replacement, stretched about the mean.

    A resample of n values has (n - 1) / n of their mean's variance, two thirds for three seeds; the stretch undoes it.
    """
    if count == 1:
        return np.ones((resamples, 1))
    random = generator(seed, "bootstrap of trainings", name, count, resamples)
    drawn = random.multinomial(count, np.full(count, 1 / count), size=resamples) / count
    return 1 / count + (drawn - 1 / count) * np.sqrt(count / (count - 1))


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


def two_sided_p_value(differences: np.ndarray) -> float:
    """Two-sided p-value of a difference from its resamples [resamples]; at least one over their number."""
    tail = min((differences <= 0).mean(), (differences >= 0).mean())
    return float(min(1.0, max(2 * tail, 1 / len(differences))))
