"""Negative videos of two-stage models, drawn from the ranked list."""

import numpy as np
import torch

from verified.benchmark.vcmr.ranked import Ranked


def draw_negatives(
    ranked: Ranked, desc_ids: np.ndarray, truth: np.ndarray, count: int, pool: int, generator: torch.Generator
) -> np.ndarray:
    """`count` negatives per query without replacement, [N, count] positions in the corpus.

    They come from the list without the ground-truth video, restricted to its first (rank of the ground truth + `pool`)
    entries, or to as many as `count` needs.
    """
    rows = ranked.at(desc_ids)
    ranks = ranked.rank_of(desc_ids, truth)
    drawn = np.empty((len(rows), count), dtype=np.int64)
    for at, (row, rank, positive) in enumerate(zip(rows, ranks, truth)):
        others = ranked.video[row][ranked.video[row] != positive]
        others = others[: max(rank + pool, count)]
        drawn[at] = others[torch.randperm(len(others), generator=generator)[:count].numpy()]
    return drawn
