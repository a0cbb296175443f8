"""Videos that show the same: copies, other encodings, and parts of one another, by the features of their clips."""

from collections.abc import Iterable, Mapping

import numpy as np

from verified.config.features import PACKAGED

SAME = 0.8
"""Share of the clips of one video that the other must have too."""
ALIKE = {PACKAGED: 0.85}
"""Cosine from which two clips show the same; of 40 pictures of different things no two reach 0.61 with this encoder."""
ALIKE_TO_OTHERS = 0.97
"""The same for encoders that were not measured: their cosines are larger."""


def near_duplicates(new: Mapping[str, np.ndarray], every: Mapping[str, np.ndarray], encoder: str) -> list[dict]:
    """Pairs of a `new` video and any of `every` (which holds the new ones too): `{"videos": [a, b], "share"}`.

    Features are [clips, F] by video; `share` is that of the clips of the one that is more alike the other.
    """
    least = ALIKE.get(encoder, ALIKE_TO_OTHERS)
    units = {video: _unit(features) for video, features in every.items()}
    pairs = []
    for one in sorted(new):
        for other in sorted(units):
            if other == one or (other in new and other < one):
                continue
            cosines = units[one] @ units[other].T
            share = max((cosines.max(axis) >= least).mean() for axis in (0, 1))
            if share >= SAME:
                pairs.append({"videos": sorted([one, other]), "share": round(float(share), 3)})
    return pairs


def alike(pairs: Iterable[Mapping]) -> list[list[str]]:
    """The videos of such pairs, in groups in which each shows nearly the same as another; sorted."""
    groups: list[set[str]] = []
    for pair in pairs:
        joined = {*pair["videos"]}.union(*(group for group in groups if group & {*pair["videos"]}))
        groups = [group for group in groups if not group & joined] + [joined]
    return sorted(sorted(group) for group in groups)


def _unit(features: np.ndarray) -> np.ndarray:
    features = features.astype(np.float32)
    return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
