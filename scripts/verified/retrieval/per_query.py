"""Numbers per query of a tested model: written by each run, read by everything that compares runs."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from verified.common.errors import InputError
from verified.common.files import atomic_path

FILE = "per_query.npz"


def write_per_query(path: str | os.PathLike, desc_id: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    """Write `values`, {TASK/METRIC: [queries]}, of the queries `desc_id` [queries]."""
    with atomic_path(path) as temporary:
        np.savez_compressed(temporary, desc_id=desc_id, **values)


def read_per_query(folders: Iterable[str | os.PathLike]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Ids [queries] and {TASK/METRIC: [folders, queries]} float64 of several trainings; queries by their ids.

    Raises InputError where the trainings were tested on different queries.
    """
    ids, values = None, {}
    for folder in folders:
        file = Path(folder) / FILE
        with np.load(file) as arrays:
            order = np.argsort(arrays["desc_id"], kind="stable")
            if ids is None:
                ids = arrays["desc_id"][order]
            elif not np.array_equal(ids, arrays["desc_id"][order]):
                raise InputError("tested on other queries than its other trainings", file=file, remedy="test it again")
            for name in arrays.files:
                if name != "desc_id":
                    values.setdefault(name, []).append(arrays[name][order].astype(np.float64))
    return ids, {name: np.stack(rows) for name, rows in values.items()}
