"""Files of a test from ranked lists of any origin: submission, metrics with intervals, numbers per query.

Each run writes them, and everything that compares runs reads them. Trainings of a model that are taken together must
have been trained and tested alike; their metrics say how.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.benchmark.lists import Lists, suppress
from verified.benchmark.vcmr.metrics import Truth, per_query, percentage
from verified.benchmark.vcmr.submission import write_submission
from verified.errors import InputError
from verified.io.array_file import read_arrays
from verified.io.files import atomic_path
from verified.io.jsonl import read_json, write_json
from verified.runtime.announcements import rebuild_command

if TYPE_CHECKING:
    from verified.benchmark.vcmr.data import Moments

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
    """The metrics of a tested model, which say of which. Raises InputError for others, and for those of another place.

    In a run they stand at `DATASET/retrieval/MODEL/TRAINED_ON/seed-SEED/TESTED_ON/metrics.json`; copied over others,
    they would be taken for those.
    """
    path, known = Path(path), read_json(path)
    remedy = "test the model again, or leave the file out"
    if not isinstance(known, dict):
        raise InputError("not the metrics of a tested model", file=path, remedy=remedy)
    for key in TEXTS:
        if key in known and not isinstance(known[key], str):
            raise InputError(f"{key!r} must be a text", file=path, remedy=remedy)
    for key, kinds in (("seed", int), ("nms_threshold", int | float)):
        if key in known and (not isinstance(known[key], kinds) or isinstance(known[key], bool)):
            raise InputError(f"{key!r} must be a number", file=path, remedy=remedy)
    parts = Path(os.path.abspath(path)).parts
    if len(parts) > 7 and parts[-6] == "retrieval" and parts[-3].startswith("seed-"):
        _, _, model, trained_on, seed, tested_on, _ = parts[-7:]
        place = {"model": model, "trained_on": trained_on, "seed": seed.removeprefix("seed-"), "tested_on": tested_on}
        for key, value in place.items():
            if key in known and str(known[key]) != value:
                raise InputError(
                    f"says {key!r} {known[key]!r}, and stands where {value!r} belongs: copied over another's",
                    file=path,
                    remedy=f"rebuild it: {rebuild_command([path])}",
                )
    return known


def check_same_settings(tested: list[tuple[Path, dict]]) -> None:
    """Raise InputError where metrics, each with its file, differ in what is shared: a run's folder keeps what an
    earlier configuration left, seeds that are named no more for example."""
    for path, known in tested[1:]:
        first, expected = tested[0]
        for key, meaning in SHARED.items():
            if known.get(key) == expected.get(key):
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


def truth_of(moments: "Moments") -> Truth:
    """The answers to the queries of `moments`, with videos numbered as there."""
    spans = moments.time[:, None, :] if moments.spans is None else moments.spans
    return Truth(moments.desc_id, moments.video, spans)


def write_test(
    lists_by_task: dict[str, Lists],
    moments: "Moments",
    threshold: float,
    facts: Mapping[str, Any],
    outputs: tuple[str, str, str],
) -> None:
    """Write `outputs`: the submission (before NMS), the metrics (after NMS at `threshold` and without), and numbers per
    query. `facts` go into the metrics as they are."""
    submission, metrics, queries_file = outputs
    write_submission(submission, moments.videos, moments.desc_id, moments.caption, lists_by_task)
    final = {task: lists if task == "VR" else suppress(lists, threshold) for task, lists in lists_by_task.items()}
    truth = truth_of(moments)
    reported = _per_query(truth, final)
    videos = [moments.videos[position] for position in moments.video]
    write_per_query(queries_file, moments.desc_id, videos, reported)
    write_json(
        metrics,
        {
            **facts,
            "queries": len(moments),
            "videos": len(moments.videos),
            "nms_threshold": threshold,
            "ground_truth_sha256": hashlib.sha256(Path(moments.file).read_bytes()).hexdigest(),
            "metrics": _percentages(reported),
            "intervals": _intervals(reported, videos),
            "without_nms": _percentages(_per_query(truth, lists_by_task)),
        },
    )


def _per_query(truth: Truth, tasks: dict[str, Lists]) -> dict[str, np.ndarray]:
    return {
        f"{task}/{name}": values
        for task, lists in tasks.items()
        for name, values in per_query(task, truth, lists).items()
    }


def _nest_by_task(values: dict) -> dict[str, dict]:
    nested: dict[str, dict] = {}
    for name, value in values.items():
        task, metric = name.split("/", 1)
        nested.setdefault(task, {})[metric] = value
    return nested


def _percentages(per_query_values: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    return _nest_by_task({name: percentage(values) for name, values in per_query_values.items()})


def _intervals(values: dict[str, np.ndarray], videos: list[str]) -> dict[str, dict[str, list[float] | None]]:
    """95 % intervals in percent that hold the draw of test videos, not the noise of training; None for one video."""
    found = mean_interval(np.stack(list(values.values()), axis=1)[None], videos)
    pairs = [
        None if np.isnan(low) else [round(100 * float(low), 2), round(100 * float(high), 2)]
        for low, high in zip(found.low, found.high)
    ]
    return _nest_by_task(dict(zip(values, pairs)))
