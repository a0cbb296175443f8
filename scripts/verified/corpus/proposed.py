"""The moments file of videos without moments: scenes and their captions, for people to correct."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.io.files import atomic_path
from verified.runtime.seeds import derive_seed

COLUMNS = ("video", "start", "end", "caption", "split")


def write_proposals(path: str | Path, rows: Iterable[dict], shares: Mapping, splits: Mapping, seed: int) -> dict:
    """Write a moments file (CSV) of all scenes, in the order of videos and times; returns counts.

    All scenes of a video go into one split: a drawn order of the videos gives the first `train_share` of them the train
    split's name, the next `val_share` the selection split's, the rest the test split's. A scene without a caption keeps
    its row with an empty one: a person may write it; until then the row is left out and counted.
    """
    rows = sorted(rows, key=lambda row: (row["video"], row["start"]))
    order = sorted({row["video"] for row in rows}, key=lambda video: (derive_seed(seed, "split of", video), video))
    names = (splits["train_split"], splits["selection_split"], splits["test_split"])
    edges = round(shares["train_share"] * len(order)), round((shares["train_share"] + shares["val_share"]) * len(order))
    split = {video: names[sum(rank >= edge for edge in edges)] for rank, video in enumerate(order)}
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([row["video"], row["start"], row["end"], row["caption"] or "", split[row["video"]]])
    return {
        "videos": len(order),
        "moments": len(rows),
        "without_caption": sum(not row["caption"] for row in rows),
        "splits": {name: sum(split[row["video"]] == name for row in rows) for name in dict.fromkeys(names)},
    }
