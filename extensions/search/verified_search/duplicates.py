"""Near-duplicate videos: copies, other encodings, and parts of one another, found by the features of their clips.

Up to `COMPARED` videos, each new one is compared with every other, in quadratic time. Beyond, candidates are videos
with a clip on the same sides of `BITS` random planes, in one of `TABLES` draws of planes (locality-sensitive hashing).
Two clips with a cosine of 0.95 match with a probability of 0.73, of 0.85 with 0.14; one matching clip of a video is
enough.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from verified.config.features import PACKAGED

SAME = 0.8
"""Share of the clips of one video that the other must have too."""
ALIKE = {PACKAGED: 0.85}
"""Cosine from which two clips show the same; of 40 pictures of different things no two reach 0.61 with this encoder."""
ALIKE_TO_OTHERS = 0.97
"""The same for encoders that were not measured: their cosines are larger."""
COMPARED = 1000
TABLES, BITS = 16, 24
MOST = 50
"""Videos with such a clip that a new one is compared with: thousands begin with a black frame."""


def near_duplicates(new: Mapping[str, np.ndarray], every: Mapping[str, np.ndarray], encoder: str) -> list[dict]:
    """Pairs of a `new` video and any of `every` (which includes the new ones): `{"videos": [a, b], "share"}`.

    Features are [clips, F] by video; `share` is the larger of both videos' shares of clips that match the other.
    """
    least = ALIKE.get(encoder, ALIKE_TO_OTHERS)
    names = sorted(every)
    units = {video: _unit(every[video]) for video in names}
    if not new:
        return []
    pairs = []
    stacked, counts = np.concatenate(list(units.values())), np.array([len(clips) for clips in units.values()])
    starts = np.cumsum(counts) - counts
    for one in sorted(new):
        near = stacked @ units[one].T >= least
        of_others = np.add.reduceat(near.any(axis=1).astype(int), starts) / counts
        of_one = np.logical_or.reduceat(near, starts, axis=0).mean(axis=1)
        for at in np.flatnonzero(np.maximum(of_one, of_others) >= SAME):
            other = names[at]
            if other != one and not (other in new and other < one):
                pairs.append({"videos": sorted([one, other]), "share": round(float(max(of_one[at], of_others[at])), 3)})
    return pairs


def sketch(features: np.ndarray) -> np.ndarray:
    """Sides of the planes of each clip in `features` [clips, F]: [clips, TABLES] int32."""
    sides = (features.astype(np.float32) @ _planes(features.shape[1]) > 0).reshape(len(features), TABLES, BITS)
    return (sides * (1 << np.arange(BITS, dtype=np.int32))).sum(axis=2, dtype=np.int32)


@cache
def _planes(width: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((width, TABLES * BITS), np.float32)


def candidates(sketches: Sequence[np.ndarray], new: Iterable[int]) -> list[tuple[int, int]]:
    """Pairs of places in `sketches` that may be duplicates, one of them `new`; the smaller place first, sorted."""
    owner = np.repeat(np.arange(len(sketches)), list(map(len, sketches)))
    is_new = np.zeros(len(sketches), bool)
    is_new[list(new)] = True
    stacked, pairs = np.concatenate(sketches), set()
    for column in stacked.T:
        order = np.argsort(column, kind="stable")
        starts = np.flatnonzero(np.r_[True, column[order][1:] != column[order][:-1]])
        ends = np.r_[starts[1:], len(order)]
        asked = np.logical_or.reduceat(is_new[owner[order]], starts) & (ends - starts > 1)
        for start, end in zip(starts[asked].tolist(), ends[asked].tolist()):
            here = np.unique(owner[order[start:end]])
            for one in here[is_new[here]].tolist():
                pairs.update((min(one, other), max(one, other)) for other in here[:MOST].tolist() if other != one)
    return sorted(pairs)


def alike(pairs: Iterable[Mapping]) -> list[list[str]]:
    """Groups of videos from such pairs; each video nearly duplicates another of its group; sorted."""
    group_of: dict[str, list[str]] = {}
    for pair in pairs:
        less, more = sorted((group_of.get(video, [video]) for video in pair["videos"]), key=len)
        if less is not more:
            more.extend(less)
            group_of.update(dict.fromkeys([*less, *pair["videos"]], more))
    return sorted({id(group): sorted(group) for group in group_of.values()}.values())


def _unit(features: np.ndarray) -> np.ndarray:
    features = features.astype(np.float32)
    return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
