"""The moments file of videos without moments: scenes and their captions, for people to correct."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.corpus.division import divide
from verified.io.csv_file import write_csv

COLUMNS = ("video", "start", "end", "caption", "split")


def write_proposals(path: str | Path, rows: Iterable[dict], shares: Mapping, splits: Mapping, seed: int) -> dict:
    """Write a moments file (CSV) of all scenes, in the order of videos and times; returns counts.

    All scenes of a video go into one split, by `corpus.division`. A scene without a caption keeps its row with an empty
    one: a person may write it; until then the row is left out and counted.
    """
    rows = sorted(rows, key=lambda row: (row["video"], row["start"]))
    names = (splits["train_split"], splits["selection_split"], splits["test_split"])
    divided = divide(rows, splits, {**shares, "seed": seed})
    cells = ([row["video"], row["start"], row["end"], row["caption"] or "", row["split"]] for row in divided)
    write_csv(path, [COLUMNS, *cells])
    return {
        "videos": len({row["video"] for row in rows}),
        "moments": len(rows),
        "without_caption": sum(not row["caption"] for row in rows),
        "splits": {name: sum(row["split"] == name for row in divided) for name in dict.fromkeys(names)},
    }
