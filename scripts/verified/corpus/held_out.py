"""A split to select models on, for corpora that have none (Charades: DESIGN decision `held_out`).

A share that the configuration asks for becomes a split of its own, `held-out`. Without one, a tenth of the train
split's videos becomes the selection split that is missing.
"""

import hashlib
from collections.abc import Iterable

HELD_OUT = "held-out"
UNASKED_SHARE = 0.1


def hold_out(moments: Iterable[dict], train_split: str, share: float) -> Iterable[dict]:
    """Move a share of the train split's videos, with all their moments, to the split `held-out`, one at a time.

    A video moves if a hash of its id falls below `share`: stable, and independent of which other videos there are. The
    hash is salted, so that it says nothing about shards.
    """
    for moment in moments:
        moves = share and moment["split"] == train_split and _draw(moment["video"]) < share
        yield {**moment, "split": HELD_OUT} if moves else moment


def choose_unasked(videos: set[str]) -> set[str]:
    """`UNASKED_SHARE` of the videos of a train split, at least one of them; none of a single video."""
    if len(videos) < 2:
        return set()
    return {video for video in videos if _draw(video) < UNASKED_SHARE} or {min(videos, key=_draw)}


def move(moments: Iterable[dict], videos: set[str], train_split: str, split: str) -> Iterable[dict]:
    """The moments, those of the train split in `videos` moved to another split."""
    for moment in moments:
        moves = moment["split"] == train_split and moment["video"] in videos
        yield {**moment, "split": split} if moves else moment


def _draw(video: str) -> float:
    """A number in [0, 1) that depends on the video id alone."""
    return int.from_bytes(hashlib.sha256(f"held-out\x1f{video}".encode()).digest()[:8], "big") / 2**64
