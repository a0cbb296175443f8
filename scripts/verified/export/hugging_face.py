"""A folder for Hugging Face's hub and its library `datasets`, with a Croissant description of the same files.

The library accepts letters, digits and underscores in names of splits.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from verified.errors import InputError
from verified.export.card import COLUMN_TABLE, write_cards
from verified.export.collection import COLUMNS, Collection
from verified.export.croissant import croissant
from verified.export.form import ExportForm
from verified.io.files import atomic_path, write_text

LICENCES = {
    "mit",
    "apache-2.0",
    "cc0-1.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-sa-4.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nd-4.0",
    "odc-by",
    "odbl",
    "pddl",
}
"""Licences that the hub knows under these names; any other is passed on as it is."""
DESCRIPTION = (
    "Parquet, read by `datasets.load_dataset` from this folder; `croissant.json` describes the same files."
    f"\n\n{COLUMN_TABLE}"
)


TASK = {
    "task_categories": ["text-retrieval"],
    "tags": ["video", "moment-retrieval", "video-corpus-moment-retrieval"],
}


def write_hugging_face(folder: Path, collection: Collection) -> None:
    """data/SPLIT.parquet of each split that has captions, croissant.json, README.md with its YAML head, manifest."""
    write_tables(folder, collection, COLUMNS, DESCRIPTION, TASK)


FORM = ExportForm(write_hugging_face)


def write_tables(
    folder: Path, collection: Collection, columns: Mapping[str, type], description: str, task: Mapping
) -> None:
    """Write a collection of rows with these columns in the same way; `task` is added to the YAML head.

    Raises InputError for two splits of one such name, "val-1" and "val_1".
    """
    files = {}
    for split, rows in collection.splits.items():
        if rows and split_name(split) in files:
            names = list(collection.splits)
            raise InputError(f"the splits {names} have the same name in letters, digits and underscores")
        if rows:
            files[split_name(split)] = path = folder / "data" / f"{split_name(split)}.parquet"
            write_parquet(path, rows, columns)
    described = croissant(collection.about, split_name(collection.about["title"]), folder, files, columns)
    write_text(folder / "croissant.json", json.dumps(described, ensure_ascii=False, indent=1) + "\n")
    write_cards(folder, "hugging-face", description, collection, card_head(collection.about, folder, files, task))


def split_name(split: str) -> str:
    """A split's name in letters, digits and underscores."""
    return re.sub(r"\W", "_", split, flags=re.ASCII)


def write_parquet(path: str | os.PathLike, rows: list[dict], columns: Mapping[str, type]) -> None:
    """Rows with these columns as one Parquet file."""
    import pyarrow
    import pyarrow.parquet

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema({name: kinds[kind] for name, kind in columns.items()})
    with atomic_path(path) as temporary:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), temporary, compression="zstd")


def card_head(about: Mapping, folder: Path, files: Mapping[str, Path], task: Mapping) -> str:
    """The YAML between two lines of --- that describes the folder to the hub and the library.

    `files` are paths below `folder` by split; `task` is added as it is.
    """
    import yaml

    licence = about["licence"].lower()
    named = {"license": licence} if licence in LICENCES else {"license": "other", "license_name": about["licence"]}
    fields = named if about["licence"] != "not stated" else {"license": "unknown"}
    paths = [{"split": split, "path": path.relative_to(folder).as_posix()} for split, path in files.items()]
    values = {
        "pretty_name": about["title"],
        **fields,
        "language": ["en"],
        **task,
        "configs": [{"config_name": "default", "data_files": paths}],
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n\n"
