"""Krippendorff's alpha: agreement of several raters, corrected for chance, with missing grades allowed.

Source: K. Krippendorff, Content Analysis, chapter on reliability; the coincidence-matrix form.
"""

import numpy as np

LEVELS = ("nominal", "ordinal", "interval")


def krippendorff_alpha(grades: np.ndarray, level: str) -> float:
    """Alpha of `grades` [raters, units], NaN where a rater gave none.

    `level` says how far two grades are apart: nominal (equal or not), ordinal (by the grades in between), interval
    (squared difference). NaN when fewer than two grades can be paired or all grades are equal: then there is nothing
    to agree about. Raises ValueError for another level.
    """
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is none of {', '.join(LEVELS)}")
    grades = np.asarray(grades, dtype=np.float64)
    values = np.unique(grades[~np.isnan(grades)])
    # counts [units, values]: how often each value was given to each unit
    counts = (grades.T[:, :, None] == values).sum(axis=1)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts) or len(values) < 2:
        return float("nan")
    pairable = counts.sum(axis=1)
    weights = 1 / (pairable - 1)
    coincidence = np.einsum("uc,uk,u->ck", counts, counts, weights) - np.diag(counts.T @ weights)
    totals = coincidence.sum(axis=1)
    distance = _distance(values, totals, level)
    expected = (np.outer(totals, totals) * distance).sum() / (totals.sum() - 1)
    if expected == 0:
        return float("nan")
    return float(1 - (coincidence * distance).sum() / expected)


def _distance(values: np.ndarray, totals: np.ndarray, level: str) -> np.ndarray:
    """Squared distances between values, [values, values]."""
    if level == "nominal":
        return (values[:, None] != values).astype(np.float64)
    if level == "interval":
        return (values[:, None] - values) ** 2
    # ordinal: grades between two values, both ends counted half
    middle = np.cumsum(totals) - totals / 2
    return (middle[:, None] - middle) ** 2
