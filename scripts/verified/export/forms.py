"""The forms by name."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from verified.config.export import Form
from verified.export.collection import Collection
from verified.export.embedding import write_mteb
from verified.export.hugging_face import write_hugging_face
from verified.export.lmms_eval import write_lmms_eval
from verified.export.plain import write_csv
from verified.export.retrieval_codes import (
    write_activitynet_captions,
    write_charades_sta,
    write_qvhighlights,
    write_tvr,
)
from verified.export.webdataset import write_webdataset
from verified.io.files import empty_folder

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
