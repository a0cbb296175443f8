"""CSV for spreadsheets and scripts: one row a caption, all columns."""

import csv
from pathlib import Path

from verified.export.card import COLUMNS_TOLD, write_cards
from verified.export.collection import COLUMNS, Collection
from verified.io.files import atomic_path

TOLD = f"SPLIT.csv in UTF-8 with a header, one row a caption; an empty cell is no value.\n\n{COLUMNS_TOLD}"


def write_csv(folder: Path, collection: Collection) -> None:
    """SPLIT.csv of every split; floats are written so that reading them gives the same number."""
    for split, rows in collection.splits.items():
        with (
            atomic_path(folder / f"{split}.csv") as temporary,
            temporary.open("w", encoding="utf-8", newline="") as out,
        ):
            writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    write_cards(folder, "csv", TOLD, collection)
