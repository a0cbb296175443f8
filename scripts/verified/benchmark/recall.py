"""R@K of ranked lists: the rank of the first row that is right says it for every K."""

import numpy as np


def first_ranks(right: np.ndarray, ranks: np.ndarray | None = None) -> np.ndarray:
    """Rank, from 1, of the first row that is right, [...] float64; infinity where none is, so that its inverse is 0.

    right [..., rows] bool; `ranks` of the rows, ascending, where they are not simply counted.
    """
    ranks = np.arange(1, right.shape[-1] + 1) if ranks is None else ranks
    return np.where(right, ranks, np.inf).min(axis=-1, initial=np.inf)
