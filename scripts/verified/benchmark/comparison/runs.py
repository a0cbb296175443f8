"""Runs to be compared: submission files, or folders of a retrieval run with one submission for each training."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.benchmark.answers import GroundTruth, Prediction, Query
from verified.benchmark.vcmr.same_settings import check_alike, read_metrics
from verified.errors import InputError
from verified.runtime.seals import as_in_run, check


@dataclass
class Run:
    """What one model answered, by query; S trainings, Q queries in the order of the ground truth."""

    name: str
    files: list[Path]
    values: dict[str, np.ndarray]
    """{metric: [S, Q]} float64 from 0 to 1."""
    reciprocal: np.ndarray
    """[S, Q] 1 / rank of the first answer that is right at tIoU 0.5; 0 where none is."""
    videos: np.ndarray
    """[Q] the video that each query is about."""
    first: list[Prediction | None]
    """[Q] the first answer of the first training."""
    metrics: dict = field(default_factory=dict)
    """What stands beside the first submission, where there are metrics."""


def read_run(
    argument: str, truth: GroundTruth, queries: Sequence[Query], tested_on: str, nms_threshold: float | None
) -> Run:
    """The run that an argument names: PATH or NAME=PATH, a submission or a folder of trainings.

    Raises InputError where there is no submission, one does not answer every query of the ground truth, or trainings
    were not alike.
    """
    name, separator, path = argument.partition("=")
    if not separator or "/" in name:
        name, path = "", argument
    files = submissions(Path(path), tested_on, truth.ending)
    beside = metrics_of(files)
    check_alike(beside)
    given = [truth.answers(file, nms_threshold) for file in files]
    common = [metric for metric in given[0].values if all(metric in other.values for other in given)]
    values = {metric: np.stack([answers.values[metric].astype(np.float64) for answers in given]) for metric in common}
    reciprocal = 1 / np.stack([answers.ranks for answers in given])
    videos = np.array([query.video for query in queries])
    known = beside[0][1] if beside else {}
    return Run(name or _name(Path(path)), files, values, reciprocal, videos, given[0].first, known)


def submissions(path: Path, tested_on: str, ending: str) -> list[Path]:
    """The submission itself, or those below the folder of a run: one for each seed. InputError where there is none."""
    if not path.is_dir():
        return [path]
    name = f"submission{ending}"
    for pattern in (name, f"{tested_on}/{name}", f"seed-*/{tested_on}/{name}"):
        files = sorted(path.glob(pattern))
        if files:
            for file in files:
                check(as_in_run(file))
            return files
    raise InputError(
        f"no {name} in it, nor in seed-*/{tested_on}",
        file=path,
        remedy="name a submission, or a folder such as results/NAME/retrieval/xml/fig",
    )


def metrics_of(files: list[Path]) -> list[tuple[Path, dict]]:
    """The metrics beside submissions, each with its file, where a run of the workflow wrote them."""
    paths = [file.with_name("metrics.json") for file in files if file.name == "submission.json.gz"]
    return [(path, read_metrics(path)) for path in paths if path.is_file()]


def _name(path: Path) -> str:
    """XML's folder …/retrieval/xml/fig is called "xml fig", a file by its name."""
    parts = path.resolve().parts
    if "retrieval" in parts:
        below = parts[parts.index("retrieval") + 1 :]
        return " ".join(component for component in below if not component.startswith("submission."))
    return path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".jsonl")
