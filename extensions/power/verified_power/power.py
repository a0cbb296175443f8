"""Power of the comparison in `verified.benchmark.intervals.difference`, for any number of videos and trainings.

A model's mean over queries varies with the videos that were drawn, with its training, and with both at once. The
variance of the difference of two models A and B over V videos and T trainings of each is

    lasting / V + Σ (fleeting / (V T) + training / T), summed over A and B,

as in two-way clustered errors (Cameron, Gelbach and Miller, 2011). The test's degrees of freedom follow from these
parts (Satterthwaite, 1946).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verified.benchmark.intervals import LEVEL
from verified.errors import InputError

POWER = 0.8
MOST_VIDEOS, MOST_TRAININGS = 10_000_000, 1_000
"""The search for a sufficient number ends here."""
CHANCES = np.random.default_rng(0).random((5, 4000))
"""Draws of each estimated variance: the same for all numbers of videos, so that power grows with them."""


@dataclass(frozen=True)
class Spread:
    """Variances of a difference between two models, of values within 0 and 1."""

    lasting: float
    """Variance of a video's share in the difference, the same in every training."""
    fleeting: tuple[float, float]
    """Variance of a video's share in each model's mean, drawn independently in each training."""
    training: tuple[float, float]
    """Variance of each model's mean over very many videos, from training to training."""
    queries_per_video: float


def measure(first: np.ndarray, second: np.ndarray, videos: Sequence[object] | np.ndarray) -> Spread:
    """The variances that two models' results show.

    `first` and `second` [trainings, queries] from 0 to 1, on the same queries; `videos` [queries] are their videos.
    Raises InputError for fewer than two trainings of a model, or fewer than two videos.
    """
    names, owner = np.unique(np.asarray(videos), return_inverse=True)
    if min(len(first), len(second)) < 2:
        raise InputError(
            "a single training shows nothing of how trainings differ",
            remedy="train each model with several seeds (retrieval.seeds), or guess: verified power --recall",
        )
    if len(names) < 2:
        raise InputError("queries of a single video show nothing of how videos differ", remedy="test on more videos")
    shares = [_shares(np.asarray(values, dtype=np.float64), owner, len(names)) for values in (first, second)]
    fleeting = tuple(float(share.var(axis=0, ddof=1).mean()) for share in shares)
    means = [np.asarray(values).mean(axis=1).var(ddof=1) for values in (first, second)]
    training = tuple(max(0.0, float(mean) - each / len(names)) for mean, each in zip(means, fleeting))
    apart = (shares[0].mean(axis=0) - shares[1].mean(axis=0)).var(ddof=1)
    lasting = max(0.0, float(apart) - sum(each / len(share) for each, share in zip(fleeting, shares)))
    return Spread(lasting, fleeting, training, len(owner) / len(names))  # pyright: ignore[reportArgumentType] (pairs)


def _shares(values: np.ndarray, owner: np.ndarray, count: int) -> np.ndarray:
    """[trainings, videos] contribution of each video to the mean of a training, times the number of videos."""
    apart = values - values.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(owner, weights=row, minlength=count) for row in apart])
    return sums * count / len(owner)


def guess(
    recall: float, spread: float, correlation: float, agreement: float, related: float, queries_per_video: float
) -> Spread:
    """Guessed variances of two unmeasured models.

    recall: share of queries that both answer; spread: standard deviation of that over trainings, as a share;
    correlation: of the answers of one training to two queries of one video; agreement: of the answers of two trainings
    to one query; related: of the two models' answers, averaged over many trainings. Raises InputError for a spread
    that no such answers can have.
    """
    answers = recall * (1 - recall)
    together = (1 + (queries_per_video - 1) * correlation) / queries_per_video
    fleeting = ((1 - agreement) * answers - spread**2) * together
    if fleeting < 0:
        raise InputError(
            f"trainings of a recall of {100 * recall:g} that agree by {agreement:g} cannot spread by {100 * spread:g}",
            remedy="give a smaller --spread, or a smaller --agreement",
        )
    lasting = 2 * agreement * answers * (1 - related) * together
    return Spread(lasting, (fleeting, fleeting), (spread**2, spread**2), queries_per_video)


def power(spread: Spread, difference: float, videos: int, trainings: int) -> float:
    """Chance that a true `difference`, as a share, is found with p < 0.05 by so many videos and trainings of each.

    Estimated variances are drawn around the true ones, and judged as `difference` of `verified.benchmark.intervals`
    judges them, lower bound and degrees of freedom included.
    """
    from scipy.special import chdtri, ndtr, stdtrit  # pyright: ignore[reportMissingTypeStubs] (it has none)

    both = [each / (videos * trainings) for each in spread.fleeting]
    of_videos = spread.lasting / videos + sum(both)
    of_trainings = [each / trainings + shared for each, shared in zip(spread.training, both)]
    deviation = np.sqrt(of_videos + sum(of_trainings) - sum(both))
    if deviation == 0:
        return float(difference != 0)
    freedoms = (videos - 1, *[trainings - 1] * 2, *[(trainings - 1) * (videos - 1)] * 2)
    parts = [of_videos, *of_trainings, *both]
    drawn = [part * chdtri(less, chance) / less for part, less, chance in zip(parts, freedoms, CHANCES)]
    noise, shared = drawn[1] + drawn[2], drawn[3] + drawn[4]
    variance = np.maximum(drawn[0] + noise - shared, np.maximum(drawn[0], noise))
    squares = sum(each**2 / less for each, less in zip(drawn, freedoms))
    bound = stdtrit(variance**2 / squares, (1 + LEVEL) / 2) * np.sqrt(variance)
    return float((ndtr((abs(difference) - bound) / deviation) + ndtr((-abs(difference) - bound) / deviation)).mean())


def detectable(spread: Spread, videos: int, trainings: int) -> float | None:
    """Smallest difference, as a share, that is found with a chance of `POWER`; None if even 1 is not."""
    most = 10_000
    steps = _first(lambda size: power(spread, size / most, videos, trainings) >= POWER, most)
    return None if steps is None else steps / most


def needed_videos(spread: Spread, difference: float, trainings: int) -> int | None:
    """Fewest videos with which `difference`, as a share, is found with a chance of `POWER`.

    None if no number suffices: the noise of so many trainings alone hides it.
    """
    return _first(lambda videos: power(spread, difference, max(2, videos), trainings) >= POWER, MOST_VIDEOS)


def needed_trainings(spread: Spread, difference: float, videos: int) -> int | None:
    """Fewest trainings of each model with which it is found; None if no number suffices for so many videos."""
    return _first(lambda trainings: power(spread, difference, videos, max(2, trainings)) >= POWER, MOST_TRAININGS)


def _first(enough: Callable[[int], bool], most: int) -> int | None:
    """Smallest number up to `most` that suffices, together with all greater ones; None without one."""
    low, high = 1, 2
    while not enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def trainings_bounds(freedom: int) -> tuple[float, float]:
    """How many times as large the spread of trainings may be as it looks (95 %), from so many degrees of freedom."""
    from scipy.special import chdtri  # pyright: ignore[reportMissingTypeStubs] (it has none)

    tail = (1 - LEVEL) / 2
    return float(np.sqrt(freedom / chdtri(freedom, tail))), float(np.sqrt(freedom / chdtri(freedom, 1 - tail)))
