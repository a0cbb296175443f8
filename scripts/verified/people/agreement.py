"""Agreement of raters, corrected for chance: Krippendorff's alpha, with missing grades allowed."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

import krippendorff
import numpy as np

Level = Literal["nominal", "ordinal", "interval"]


def grade_matrix(
    grades: Iterable[tuple[Hashable, Hashable, float]], raters: Sequence[Hashable], units: Sequence[Hashable]
) -> np.ndarray:
    """[raters, units] of (rater, unit, grade), NaN for a missing grade."""
    row, column = ({name: place for place, name in enumerate(names)} for names in (raters, units))
    matrix = np.full((len(row), len(column)), np.nan)
    for rater, unit, grade in grades:
        matrix[row[rater], column[unit]] = grade
    return matrix


def krippendorff_alpha(grades: np.ndarray, level: Level) -> float | None:
    """Alpha of `grades` [raters, units], with NaN for a missing grade.

    `level` is the distance of two grades: nominal (equal or not), ordinal (by the grades in between), interval (squared
    difference). None if fewer than two grades can be paired or all grades are equal: alpha is undefined then.
    """
    grades = np.asarray(grades, dtype=np.float64)
    pairable = grades[:, (~np.isnan(grades)).sum(axis=0) >= 2]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        return None
    return float(krippendorff.alpha(reliability_data=pairable, level_of_measurement=level))
