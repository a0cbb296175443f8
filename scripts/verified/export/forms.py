"""The forms by name, and the simplest of them: CSV, one row a caption, all columns."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from verified.config.export import Form
from verified.export.card import COLUMNS_TOLD, write_cards
from verified.export.collection import COLUMNS, Collection
from verified.export.embedding import write_mteb
from verified.export.hugging_face import write_hugging_face
from verified.export.lmms_eval import write_lmms_eval
from verified.export.retrieval_codes import (
    write_activitynet_captions,
    write_charades_sta,
    write_qvhighlights,
    write_tvr,
)
from verified.export.webdataset import write_webdataset
from verified.io import text_tables
from verified.io.files import empty_folder

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


FORMS = get_args(Form)
WRITERS: dict[str, Callable[[Path, Collection], None]] = {
    "hugging-face": write_hugging_face,
    "csv": write_csv,
    "tvr": write_tvr,
    "qvhighlights": write_qvhighlights,
    "activitynet-captions": write_activitynet_captions,
    "charades-sta": write_charades_sta,
    "mteb": write_mteb,
    "lmms-eval": write_lmms_eval,
}


def write_form(form: str, folder: Path, collection: Collection, shard_captions: int, media=None) -> None:
    """Write `collection` in one form; only WebDataset shards take `media` and `shard_captions`.

    What stands in `folder` goes first: cards list what lies there, and a killed job may have left something.
    """
    empty_folder(folder)
    if form == "webdataset":
        write_webdataset(folder, collection, shard_captions, media)
    else:
        WRITERS[form](folder, collection)
