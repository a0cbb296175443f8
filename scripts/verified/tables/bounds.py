"""The range of a many-to-many count if some captions, unknown which, had been omitted."""

import numpy as np

DRAWS = 1000


def range_without(members: list[dict], captions: int, left_out: int, figure: str, seed: int) -> tuple[int, int]:
    """The middle 95 % of a count after leaving out `left_out` of `captions` captions at random.

    `members` are the classes of ``many_to_many.json``; `figure` is ``classes`` (those that keep two captions) or
    ``instances`` (the captions in them). Captions of a class are taken as all alike, so that a class never falls apart.
    """
    sizes = np.array([member["size"] for member in members], np.int64)
    single = captions - sizes.sum()
    draws = np.random.default_rng(seed).multivariate_hypergeometric([*sizes, single], left_out, DRAWS)[:, :-1]
    remaining = sizes - draws
    still_classes = remaining >= 2
    counts = still_classes.sum(axis=1) if figure == "classes" else np.where(still_classes, remaining, 0).sum(axis=1)
    low, high = np.percentile(counts, [2.5, 97.5], method="nearest")
    return int(low), int(high)
