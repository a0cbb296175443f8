"""A division of videos into train, selection and test: for moments files that name no split, and proposed moments."""

from collections.abc import Mapping
from types import MappingProxyType

from verified.runtime.seeds import derive_seed

NO_COPIES: Mapping[str, str] = MappingProxyType({})


def divide(moments: list[dict], names: Mapping, shares: Mapping, copies: Mapping[str, str] = NO_COPIES) -> list[dict]:
    """The moments with the splits `names[...]`: `train_split`, `selection_split` and `test_split`, whole videos each.

    A number in [0, 1) is drawn for each video from `shares["seed"]` and its id alone, so that videos which join the
    folder later move no other: below `train_share` is train, the next `val_share` is the selection split, the rest is
    test. Of three videos or more, the highest draws go to test and to the selection split where these would be empty;
    two or one are all train. A video of `copies` goes where the one goes that it shows again, and counts with it.
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
