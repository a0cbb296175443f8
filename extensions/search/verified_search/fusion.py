"""Fuse the scores of a search's parts into one score of a moment, from 0 to 1.

Each part's number is rescaled to its distance above the average moment: 0 is as near to the query as the corpus on
average, 1 is the nearest possible. The score is the weighted mean of the parts. A moment without a value for a part (no
caption) counts as average. On the demo's validation queries this ranks better than reciprocal ranks, which ignore the
size of a lead (docs/measurements.md).
"""

from collections.abc import Mapping

import numpy as np

TEXT_WEIGHTS = {"words": 1.0, "fine": 1.0, "coarse": 2.0}
"""Weights of text: shared words, the sentence vectors of the fine and of the coarse caption. Chosen on the demo's
validation split.
"""
TRAINED_WEIGHT, JOINT_WEIGHT = 0.5, 2.0
"""Of a trained model and of a joint encoder that rank the right video before all others."""
LEAST = 0.01
"""Weight of a part that ranks at random: it only breaks ties."""
DEVIATIONS = 4.0
"""A clip that is so many standard deviations above the mean clip of the corpus is as near as can be."""
COMMON = 10
"""Number of moments without similarity to a query that count into the average, so that a small corpus is not normalised
by its few moments alone.
"""


def weights_of(model: str, skill: float, joint: bool) -> dict[str, float]:
    """Weights of all parts, by the skill of the model (see `origin.skill`) and whether it is a joint encoder."""
    whole = JOINT_WEIGHT if joint else TRAINED_WEIGHT
    return {**TEXT_WEIGHTS, model: round(max(LEAST, whole * skill), 4)}


def above_average(scores: np.ndarray) -> np.ndarray:
    """[moments] from 0 to 1: scores, all on one scale, by their distance above their mean."""
    mean = scores.sum() / (len(scores) + COMMON)
    return ((scores - mean) / max(1 - mean, 1e-6)).clip(0, 1)


def salience(cosines: np.ndarray, background: np.ndarray, near: float | None = None) -> np.ndarray:
    """[moments] from 0 to 1: cosines by their distance above those of the corpus' clips [clips].

    If the cosine `near` of a matching clip is known, each value is limited to the cosine's share of it: every corpus
    has an outlier even for an absent query.
    """
    spread = max(float(background.std()), 1e-6)
    above = (cosines - background.mean()) / (DEVIATIONS * spread)
    return (above if near is None else np.minimum(above, cosines / near)).clip(0, 1)


def shares(parts: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> dict[str, np.ndarray]:
    """[moments] by part: the share of each part in the score, which is their sum."""
    whole = sum(weights[name] for name in parts)
    return {name: weights[name] * values / whole for name, values in parts.items()}
