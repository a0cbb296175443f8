"""Runs to be compared: submission files, folders with one submission for each training, or a folder of such runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.benchmark.submissions import GroundTruth, Prediction, Query
from verified.benchmark.vcmr.results import check_same_settings, read_metrics
from verified.errors import InputError
from verified.runtime.checksums import BUILT
from verified.runtime.verify import check


@dataclass
class Run:
    """Answers of one model, by query; S trainings, Q queries in the order of the ground truth."""

    name: str
    files: list[Path]
    values: dict[str, np.ndarray]
    """{metric: [S, Q]} float64 from 0 to 1."""
    reciprocal: np.ndarray
    """[S, Q] 1 / rank of the first right answer at tIoU 0.5; 0 without one."""
    videos: np.ndarray
    """[Q] the video that each query is about."""
    first: list[Prediction | None]
    """[Q] the first answer of the first training."""
    metrics: dict = field(default_factory=dict)
    """Contents of the metrics file next to the first submission, if any."""


def read_run(
    argument: str, truth: GroundTruth, queries: Sequence[Query], tested_on: str, nms_threshold: float | None
) -> Run:
    """The run of an argument PATH or NAME=PATH: a submission or a folder of trainings.

    Raises InputError if there is no submission, if one does not answer every query of the ground truth, or if the
    trainings' settings differ.
    """
    name, path = _named(argument)
    files = submissions(Path(path), tested_on, truth.ending)
    if not files:
        raise InputError(
            f"no submission in it: no submission{truth.ending}, also below {tested_on} or seed-*, and no seed-* file",
            file=path,
            remedy="name a submission, a folder such as results/NAME/retrieval/xml/fig, or a folder of submissions;"
            " --tested-on cog takes tests on coarse captions",
        )
    beside = [file.with_name("metrics.json") for file in files if file.name == "submission.json.gz"]
    metrics = [(path, read_metrics(path)) for path in beside if path.is_file()]
    check_same_settings(metrics)
    tests = [truth.answers(file, nms_threshold) for file in files]
    common = [metric for metric in tests[0].values if all(metric in other.values for other in tests)]
    values = {metric: np.stack([answers.values[metric].astype(np.float64) for answers in tests]) for metric in common}
    reciprocal = 1 / np.stack([answers.ranks for answers in tests])
    videos = np.array([query.video for query in queries])
    facts = metrics[0][1] if metrics else {}
    return Run(name or _name(Path(path)), files, values, reciprocal, videos, tests[0].first, facts)


def _named(argument: str) -> tuple[str, str]:
    name, separator, path = argument.partition("=")
    return (name, path) if separator and "/" not in name else ("", argument)


def sample(arguments: Sequence[str], tested_on: str) -> Path | None:
    """One of the submissions that the arguments name, which tells the form of all."""
    for ending in (".json.gz", ".jsonl"):
        for argument in (run for each in arguments for run in runs_of(each, tested_on, ending)):
            if files := submissions(Path(_named(argument)[1]), tested_on, ending):
                return files[0]
    return None


def runs_of(argument: str, tested_on: str, ending: str) -> list[str]:
    """Runs of an argument: those inside a folder that is not a run itself, else the argument."""
    folder = Path(argument)
    if not folder.is_dir() or submissions(folder, tested_on, ending):
        return [argument]
    paths = [path for path in sorted(folder.iterdir()) if path.is_dir() or _is_submission(path, ending)]
    return [f"{_name(path)}={path}" for path in paths] or [argument]


def submissions(path: Path, tested_on: str, ending: str) -> list[Path]:
    """The submission itself, or one per seed below the folder of a run; empty for any other folder."""
    if not path.is_dir():
        return [path]
    name = f"submission{ending}"
    for pattern in (name, f"{tested_on}/{name}", f"seed-*/{tested_on}/{name}"):
        files = sorted(path.glob(pattern))
        if files:
            for file in files:
                check(file, required=Path(BUILT).resolve() in file.resolve().parents)
            return files
    return [file for file in sorted(path.glob("seed-*")) if _is_submission(file, ending)]


def _is_submission(file: Path, ending: str) -> bool:
    return file.is_file() and file.name.endswith((ending, ending.removesuffix(".gz")))


def _name(path: Path) -> str:
    """XML's folder …/retrieval/xml/fig is called "xml fig", a file by its name."""
    parts = path.resolve().parts
    if "retrieval" in parts:
        below = parts[parts.index("retrieval") + 1 :]
        return " ".join(component for component in below if not component.startswith("submission."))
    return path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".jsonl")
