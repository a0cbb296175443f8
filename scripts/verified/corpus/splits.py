"""Splits of whole videos, drawn if a source names none, and a split for model selection if it has none.

Moments files without splits, and proposed moments, are divided into train, selection and test. For corpora without a
selection split, such as Charades, a configured share of the train split becomes a separate split, `held-out`; without
one, a tenth of the train split's videos becomes the selection split.
"""

import hashlib
from collections.abc import Collection, Mapping
from types import MappingProxyType

from verified.runtime.seeds import derive_seed

HELD_OUT = "held-out"
SELECTION_SHARE = 0.1
NO_COPIES: Mapping[str, str] = MappingProxyType({})


def divide(
    videos: Collection[str], names: Mapping[str, str], shares: Mapping, copies: Mapping[str, str] = NO_COPIES
) -> dict[str, str]:
    """{video: split}, of the splits `names[...]`: `train_split`, `selection_split` and `test_split`.

    A number in [0, 1) is drawn for each video from `shares["seed"]` and its id alone, so that videos added later move
    no other: below `train_share` is train, the next `val_share` is the selection split, the rest is test. Of three
    videos or more, the highest draws are assigned to test and to the selection split if these would be empty; two or
    one are all train. A video of `copies` is in the split of its original, and counts with it.
    """
    originals = {copies.get(video, video) for video in videos}
    draws = {video: derive_seed(shares["seed"], "split of", video) / 2**63 for video in originals}
    order = sorted(draws, key=lambda video: (draws[video], video))
    if len(order) < 3:
        return dict.fromkeys(videos, names["train_split"])
    train = sum(draw < shares["train_share"] for draw in draws.values())
    chosen = sum(draw < shares["train_share"] + shares["val_share"] for draw in draws.values())
    chosen = min(chosen, len(order) - 1)
    train = max(1, min(train, chosen - 1))
    edges = {video: (rank >= train) + (rank >= chosen) for rank, video in enumerate(order)}
    roles = ("train_split", "selection_split", "test_split")
    return {video: names[roles[edges[copies.get(video, video)]]] for video in videos}


def is_held_out(video: str, share: float) -> bool:
    """Whether a video of the train split is in the share of it that is the split `held-out`: by a hash of its id, so
    that it does not depend on other videos. The hash is salted, so that it is independent of shards.
    """
    return _draw(video) < share


def draw_selection_videos(videos: set[str]) -> set[str]:
    """`SELECTION_SHARE` of the videos of a train split, at least one of them; none of a single video."""
    if len(videos) < 2:
        return set()
    return {video for video in videos if is_held_out(video, SELECTION_SHARE)} or {min(videos, key=_draw)}


def _draw(video: str) -> float:
    """A number in [0, 1) that depends on the video id alone."""
    return int.from_bytes(hashlib.sha256(f"held-out\x1f{video}".encode()).digest()[:8], "big") / 2**64
