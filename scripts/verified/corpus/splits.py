"""Splits of whole videos, drawn if a source names none, and a split for model selection if it has none.

Moments files without splits, and proposed moments, are divided into train, selection and test. For corpora without a
selection split, such as Charades, a configured share of the train split becomes a separate split, `held-out`; without
one, a tenth of the train split's videos becomes the selection split.
"""

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from verified.runtime.seeds import derive_seed

HELD_OUT = "held-out"
SELECTION_SHARE = 0.1
NO_COPIES: Mapping[str, str] = MappingProxyType({})


def divide(moments: list[dict], names: Mapping, shares: Mapping, copies: Mapping[str, str] = NO_COPIES) -> list[dict]:
    """The moments with the splits `names[...]`: `train_split`, `selection_split` and `test_split`, whole videos each.

    A number in [0, 1) is drawn for each video from `shares["seed"]` and its id alone, so that videos added later move
    no other: below `train_share` is train, the next `val_share` is the selection split, the rest is test. Of three
    videos or more, the highest draws are assigned to test and to the selection split if these would be empty; two or
    one are all train. A video of `copies` is in the split of its original, and counts with it.
    """
    videos = {copies.get(row["video"], row["video"]) for row in moments}
    draws = {video: derive_seed(shares["seed"], "split of", video) / 2**63 for video in videos}
    order = sorted(draws, key=lambda video: (draws[video], video))
    if len(order) < 3:
        return [{**row, "split": names["train_split"]} for row in moments]
    train = sum(draw < shares["train_share"] for draw in draws.values())
    chosen = sum(draw < shares["train_share"] + shares["val_share"] for draw in draws.values())
    chosen = min(chosen, len(order) - 1)
    train = max(1, min(train, chosen - 1))
    edges = {video: (rank >= train) + (rank >= chosen) for rank, video in enumerate(order)}
    roles = ("train_split", "selection_split", "test_split")
    return [{**row, "split": names[roles[edges[copies.get(row["video"], row["video"])]]]} for row in moments]


def hold_out(moments: Iterable[dict], train_split: str, share: float) -> Iterable[dict]:
    """Move a share of the train split's videos, with all their moments, to the split `held-out`, one at a time.

    A video moves if a hash of its id falls below `share`: stable, and independent of other videos. The hash is salted,
    so that it is independent of shards.
    """
    for moment in moments:
        moves = share and moment["split"] == train_split and _draw(moment["video"]) < share
        yield {**moment, "split": HELD_OUT} if moves else moment


def draw_selection_videos(videos: set[str]) -> set[str]:
    """`SELECTION_SHARE` of the videos of a train split, at least one of them; none of a single video."""
    if len(videos) < 2:
        return set()
    return {video for video in videos if _draw(video) < SELECTION_SHARE} or {min(videos, key=_draw)}


def move(moments: Iterable[dict], videos: set[str], train_split: str, split: str) -> Iterable[dict]:
    """The moments, those of the train split in `videos` moved to another split."""
    for moment in moments:
        moves = moment["split"] == train_split and moment["video"] in videos
        yield {**moment, "split": split} if moves else moment


def _draw(video: str) -> float:
    """A number in [0, 1) that depends on the video id alone."""
    return int.from_bytes(hashlib.sha256(f"held-out\x1f{video}".encode()).digest()[:8], "big") / 2**64
