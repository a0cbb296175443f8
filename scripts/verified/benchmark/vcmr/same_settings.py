"""Trainings of a model that are taken together must have been trained and tested alike; their metrics say how."""

import os
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.jsonl import read_json
from verified.runtime.announcements import rebuild_command

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
