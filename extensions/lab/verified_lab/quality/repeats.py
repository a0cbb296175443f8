"""Moments that repeat an earlier one: hashes of a few frames, compared if a part of them is equal.

A hash has the signs of the horizontal changes of `HASHED_FRAMES` frames, each scaled to 9 by 8 grey pixels (difference
hash): copies, other encodings and sizes change few of them. Not all pairs are compared: two hashes that differ in fewer
bits than there are bands, of `BAND` digits, agree in one band at least.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import cv2
import numpy as np

HASHED_FRAMES = 3
BITS = HASHED_FRAMES * 64
BAND = 4
"""Hexadecimal digits of a band, of four bits each."""
LEAST = 1 - (BITS // (4 * BAND) - 1) / BITS
"""Share of equal bits from which no pair is overlooked: 0.943."""


def hash_frames(greys: list[np.ndarray]) -> str:
    """The hash, in hexadecimal digits, of frames uint8 [h, w] of a moment in their order, of which some are taken."""
    chosen = ((np.arange(HASHED_FRAMES) + 0.5) * len(greys) / HASHED_FRAMES).astype(int)
    small = [cv2.resize(greys[number], (9, 8), interpolation=cv2.INTER_AREA).astype(int) for number in chosen]
    return np.packbits(np.stack([frame[:, 1:] > frame[:, :-1] for frame in small])).tobytes().hex()


def repeated(measured: Iterable[Mapping[str, Any]], least: float) -> dict[int, tuple[int, float]]:
    """{desc_id: the earlier moment that it repeats, and the share of equal bits}, of rows with `desc_id` and `hash`.

    Earlier is a smaller desc_id that repeats none itself, so that one of many equal moments remains. The share exceeds
    `least`, which is at least `LEAST`.
    """
    hashes: dict[int, int] = {}
    bands: dict[tuple[int, str], list[int]] = {}
    repeats: dict[int, tuple[int, float]] = {}
    for desc_id, code in sorted((row["desc_id"], row["hash"]) for row in measured if row["hash"]):
        places = [(place, code[place : place + BAND]) for place in range(0, len(code), BAND)]
        near = {other for place in places for other in bands.get(place, ())}
        bits = int(code, 16)
        differing, other = min((((bits ^ hashes[other]).bit_count(), other) for other in near), default=(BITS, 0))
        if (share := 1 - differing / BITS) > least:
            repeats[desc_id] = (other, round(share, 4))
            continue
        hashes[desc_id] = bits
        for place in places:
            bands.setdefault(place, []).append(desc_id)
    return repeats
