"""Results of a test: metrics, and numbers per query, in the form that all comparisons read.

Trainings of a model are averaged only if they were trained and tested with the same settings, which their metrics
record.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path
from verified.io.jsonl import read_json
from verified.runtime.manifest import rebuild_command

SETTINGS = "settings_sha256"
"""Digest of the settings of training and search (see `paths.settings_digest`)."""
SHARED = {
    SETTINGS: "was trained or tested with other settings",
    "ground_truth_sha256": "was tested on other annotations",
    "nms_threshold": "was tested with spans suppressed at another tIoU",
    "parameters": "has another number of parameters",
    "queries": "was tested on another number of queries",
    "videos": "was tested on another number of videos",
}
"""Fields that the metrics of all trainings of a run share, with the meaning of a difference."""


TEXTS = ("dataset", "model", "trained_on", "tested_on", "split", "ground_truth_sha256")


def read_metrics(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metrics of a tested model, with its identity. Raises InputError for other files, and for metrics of another
    path.

    A run stores them at `DATASET/retrieval/MODEL/TRAINED_ON/seed-SEED/TESTED_ON/metrics.json`; a copy at another path
    would be mistaken for the results of that path.
    """
    path, record = Path(path), read_json(path)
    remedy = "test the model again, or leave the file out"
    if not isinstance(record, dict):
        raise InputError("not the metrics of a tested model", file=path, remedy=remedy)
    for key in TEXTS:
        if key in record and not isinstance(record[key], str):
            raise InputError(f"{key!r} must be a text", file=path, remedy=remedy)
    for key, kinds in (("seed", int), ("nms_threshold", int | float)):
        if key in record and (not isinstance(record[key], kinds) or isinstance(record[key], bool)):
            raise InputError(f"{key!r} must be a number", file=path, remedy=remedy)
    parts = Path(os.path.abspath(path)).parts
    if len(parts) > 7 and parts[-6] == "retrieval" and parts[-3].startswith("seed-"):
        _, _, model, trained_on, seed, tested_on, _ = parts[-7:]
        place = {"model": model, "trained_on": trained_on, "seed": seed.removeprefix("seed-"), "tested_on": tested_on}
        for key, value in place.items():
            if key in record and str(record[key]) != value:
                raise InputError(
                    f"says {key!r} {record[key]!r}, where its path says {value!r}: copied over another's",
                    file=path,
                    remedy=f"rebuild it: {rebuild_command([path])}",
                )
    return record


def check_same_settings(tested: list[tuple[Path, dict]]) -> None:
    """Raise InputError if metrics, each with its file, differ in shared settings: a run's folder may contain results of
    an earlier configuration, for example of seeds that are no longer named.
    """
    for path, record in tested[1:]:
        first, expected = tested[0]
        for key, meaning in SHARED.items():
            if record.get(key) == expected.get(key):
                continue
            raise InputError(
                f"{meaning} than {first}",
                file=path,
                remedy="remove the training that an earlier configuration left, or name its seed in the configuration"
                " and build both again",
            )


PER_QUERY_FILE = "per_query.npz"
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
        file = Path(folder) / PER_QUERY_FILE
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
