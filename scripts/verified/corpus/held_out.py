"""A split to select models on, for corpora that have none (Charades: DESIGN decision `held_out`).

A share that the configuration asks for becomes a split of its own, `held-out`. Without one, a tenth of the train
split's videos becomes the selection split that is missing.
"""

import hashlib

HELD_OUT = "held-out"
UNASKED_SHARE = 0.1


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


def hold_out_unasked(moments: list[dict], train_split: str, selection_split: str) -> list[dict]:
    """Move `UNASKED_SHARE` of the train split's videos, at least one of them, to the split `selection_split`.

    A single video is not divided: the moments are then returned as they are.
    """
    videos = {moment["video"] for moment in moments if moment["split"] == train_split}
    if len(videos) < 2:
        return moments
    held_out = {video for video in videos if _draw(video) < UNASKED_SHARE} or {min(videos, key=_draw)}
    return [
        {**moment, "split": selection_split}
        if moment["split"] == train_split and moment["video"] in held_out
        else moment
        for moment in moments
    ]


def _draw(video: str) -> float:
    """A number in [0, 1) that depends on the video id alone."""
    return int.from_bytes(hashlib.sha256(f"held-out\x1f{video}".encode()).digest()[:8], "big") / 2**64
