"""Numbers per query of a tested model: written by each run, read by everything that compares runs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path

FILE = "per_query.npz"
IDS, VIDEOS = "desc_id", "video"


@dataclass(frozen=True)
class PerQuery:
    """Results of several trainings of a model, by query; queries by their ids."""

    desc_id: np.ndarray
    """[queries] int64."""
    video: np.ndarray
    """[queries] the name of the video that each query is about."""
    values: dict[str, np.ndarray]
    """{TASK/METRIC: [trainings, queries]} float64 within 0 and 1."""


def write_per_query(
    path: str | os.PathLike, desc_id: np.ndarray, video: Sequence[str], values: Mapping[str, np.ndarray]
) -> None:
    """Write `values`, {TASK/METRIC: [queries]}, of the queries `desc_id` [queries] about the videos `video`."""
    with atomic_path(path) as temporary:
        arrays: dict[str, Any] = {IDS: desc_id, VIDEOS: np.asarray(video, dtype=np.str_), **values}
        np.savez_compressed(temporary, **arrays)


def read_per_query(folders: Iterable[str | os.PathLike]) -> PerQuery:
    """The numbers of trainings, a folder each.

    Raises InputError where they were tested on different queries, or by a version that stored no videos.
    """
    ids: np.ndarray | None = None
    videos: np.ndarray | None = None
    values: dict[str, list[np.ndarray]] = {}
    for folder in folders:
        file = Path(folder) / FILE
        arrays = read_arrays(file, "test it again")
        if VIDEOS not in arrays or IDS not in arrays:
            raise InputError("does not say which videos its queries are about", file=file, remedy="test it again")
        if any(array.shape != (arrays[IDS].size,) for array in arrays.values()):
            raise InputError("its arrays are not of one length", file=file, remedy="test it again")
        order = np.argsort(arrays[IDS], kind="stable")
        if ids is None or videos is None:
            ids, videos = arrays[IDS][order], arrays[VIDEOS][order]
        elif not (np.array_equal(ids, arrays[IDS][order]) and np.array_equal(videos, arrays[VIDEOS][order])):
            raise InputError("tested on other queries than its other trainings", file=file, remedy="test it again")
        for name, array in arrays.items():
            if name in (IDS, VIDEOS):
                continue
            if array.dtype.kind not in "bf" or not np.isfinite(array).all():
                raise InputError(f"{name!r} holds no finite numbers", file=file, remedy="test it again")
            values.setdefault(name, []).append(array[order].astype(np.float64))
    if ids is None or videos is None:
        raise ValueError("no trainings to read")
    return PerQuery(ids, videos, {name: np.stack(rows) for name, rows in values.items()})
