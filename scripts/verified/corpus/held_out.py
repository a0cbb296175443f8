"""A split to select models on, for corpora that have none (Charades: DESIGN decision `held_out`)."""

import hashlib

HELD_OUT = "held-out"


def hold_out(moments: list[dict], train_split: str, share: float) -> list[dict]:
    """Move a share of the train split's videos, with all their moments, to the split `held-out`.

    A video moves if a hash of its id falls below `share`: stable, and independent of which other videos there are. The
    hash is salted, so that it says nothing about shards.
    """
    if not share:
        return moments
    return [
        {**moment, "split": HELD_OUT} if moment["split"] == train_split and _draw(moment["video"]) < share else moment
        for moment in moments
    ]


def _draw(video: str) -> float:
    """A number in [0, 1) that depends on the video id alone."""
    return int.from_bytes(hashlib.sha256(f"held-out\x1f{video}".encode()).digest()[:8], "big") / 2**64
