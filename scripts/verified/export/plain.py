"""CSV for spreadsheets and scripts: one row a caption, all columns."""

from pathlib import Path

from verified.export.card import COLUMNS_TOLD, write_cards
from verified.export.collection import COLUMNS, Collection
from verified.io import text_tables

TOLD = (
    "SPLIT.csv in UTF-8 with a header, one row a caption; an empty cell is no value, and an apostrophe before =, +, -"
    f" or @ keeps spreadsheets from running a text.\n\n{COLUMNS_TOLD}"
)


def write_csv(folder: Path, collection: Collection) -> None:
    """SPLIT.csv of every split; floats are written so that reading them gives the same number."""
    for split, rows in collection.splits.items():
        cells = ([row.get(name) for name in COLUMNS] for row in rows)
        text_tables.write_csv(folder / f"{split}.csv", [[*COLUMNS], *cells])
    write_cards(folder, "csv", TOLD, collection)
