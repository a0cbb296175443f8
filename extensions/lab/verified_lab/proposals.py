"""Moments proposed for videos without any: a file of scenes and their captions, for people to correct."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.corpus.preflight import caption_of_most
from verified.corpus.splits import NO_COPIES, divide
from verified.io.text_tables import write_csv

COLUMNS = ("video", "start", "end", "caption", "split")
"""Columns of the moments file."""


def write_proposals(
    path: str | Path,
    rows: Iterable[dict],
    shares: Mapping,
    splits: Mapping,
    seed: int,
    copies: Mapping[str, str] = NO_COPIES,
) -> dict:
    """Write a moments file (CSV) of all scenes, in the order of videos and times; returns counts.

    All scenes of a video go into one split, by `corpus.splits.divide`, with those of its `copies`. A scene without a
    caption has a row with an empty one: a person may write it; until then the row is excluded and counted. A caption
    that most scenes share describes none of them, and is excluded too (``same_caption``).
    """
    rows = sorted(rows, key=lambda row: (row["video"], row["start"]))
    repeated = caption_of_most([row["caption"] or "" for row in rows])
    same_caption = sum(row["caption"] == repeated for row in rows) if repeated else 0
    rows = [{**row, "caption": None} if repeated and row["caption"] == repeated else row for row in rows]
    names = (splits["train_split"], splits["selection_split"], splits["test_split"])
    split_of = divide({row["video"] for row in rows}, splits, {**shares, "seed": seed}, copies)
    cells = ([row["video"], row["start"], row["end"], row["caption"] or "", split_of[row["video"]]] for row in rows)
    write_csv(path, [COLUMNS, *cells])
    return {
        "videos": len({row["video"] for row in rows}),
        "moments": len(rows),
        "without_caption": sum(not row["caption"] for row in rows),
        "same_caption": same_caption,
        "splits": {name: sum(split_of[row["video"]] == name for row in rows) for name in dict.fromkeys(names)},
    }
