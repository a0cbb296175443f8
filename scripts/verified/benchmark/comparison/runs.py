"""Runs to be compared: submission files, or folders of a retrieval run with one submission for each training."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.benchmark.recall import first_ranks
from verified.benchmark.vcmr.evaluate import Scored, scored_tasks
from verified.benchmark.vcmr.metrics import DEPTH, THRESHOLDS, agreed_overlap
from verified.benchmark.vcmr.same_settings import check_alike, read_metrics
from verified.benchmark.vcmr.submission import TrueMoment, read_submission
from verified.errors import InputError
from verified.runtime.seals import as_in_run, check

SUBMISSION = "submission.json.gz"
Prediction = tuple[str, float, float]
"""Video, start and end in seconds."""


@dataclass
class Run:
    """What one model answered, by query; S trainings, Q queries in the order of the ground truth."""

    name: str
    files: list[Path]
    values: dict[str, np.ndarray]
    """{TASK/METRIC: [S, Q]} float64."""
    reciprocal: np.ndarray
    """[S, Q] 1 / rank of the first VCMR row that is right at tIoU 0.5; 0 where none of 100 is."""
    videos: np.ndarray
    """[Q] the video that each query is about."""
    first: list[Prediction | None]
    """[Q] the first VCMR row of the first training."""
    metrics: dict = field(default_factory=dict)
    """What stands beside the first submission, where there are metrics."""


def read_run(argument: str, moments: dict[int, TrueMoment], truth: Path, tested_on: str, nms: float | None) -> Run:
    """The run that an argument names: PATH or NAME=PATH, a submission or a folder of trainings.

    Raises InputError where there is no submission, one does not answer every query of the ground truth in VCMR, or
    trainings were not alike.
    """
    name, separator, path = argument.partition("=")
    if not separator or "/" in name:
        name, path = "", argument
    files = submissions(Path(path), tested_on)
    beside = metrics_of(files)
    check_alike(beside)
    values, ranks, first = [], [], []
    for file in files:
        tasks = {scored.task: scored for scored in scored_tasks(moments, truth, file, nms, False, [])}
        if "VCMR" not in tasks:
            raise InputError("holds no VCMR lists, which a comparison needs", file=file)
        values.append({f"{task}/{metric}": v for task, result in tasks.items() for metric, v in result.values.items()})
        ranks.append(_reciprocal(tasks["VCMR"]))
        first = first or _first(tasks["VCMR"], file)
    common = [metric for metric in values[0] if all(metric in other for other in values)]
    stacked = {metric: np.stack([result[metric].astype(np.float64) for result in values]) for metric in common}
    videos = np.array([moment.video for moment in moments.values()])
    known = beside[0][1] if beside else {}
    return Run(name or _name(Path(path)), files, stacked, np.stack(ranks), videos, first, known)


def submissions(path: Path, tested_on: str) -> list[Path]:
    """The submission itself, or those below the folder of a run: one for each seed. InputError where there is none."""
    if not path.is_dir():
        return [path]
    for pattern in (SUBMISSION, f"{tested_on}/{SUBMISSION}", f"seed-*/{tested_on}/{SUBMISSION}"):
        files = sorted(path.glob(pattern))
        if files:
            for file in files:
                check(as_in_run(file))
            return files
    raise InputError(
        f"no {SUBMISSION} in it, nor in seed-*/{tested_on}",
        file=path,
        remedy="name a submission, or a folder such as results/NAME/retrieval/xml/fig",
    )


def metrics_of(files: list[Path]) -> list[tuple[Path, dict]]:
    """The metrics beside submissions, each with its file, where a run of the workflow wrote them."""
    paths = [file.with_name("metrics.json") for file in files if file.name == SUBMISSION]
    return [(path, read_metrics(path)) for path in paths if path.is_file()]


def _name(path: Path) -> str:
    """XML's folder …/retrieval/xml/fig is called "xml fig", a file by its name."""
    parts = path.resolve().parts
    if "retrieval" in parts:
        return " ".join(component for component in parts[parts.index("retrieval") + 1 :] if component != SUBMISSION)
    return path.name.removesuffix(".gz").removesuffix(".json")


def _reciprocal(scored: Scored) -> np.ndarray:
    lists, truth = scored.lists.top(DEPTH), scored.truth
    right = (lists.video == truth.video[:, None]) & (agreed_overlap(truth, lists) >= np.float32(THRESHOLDS[0]))
    return 1 / first_ranks(right)


def _first(scored: Scored, file: Path) -> list[Prediction | None]:
    names = {number: name for name, number in read_submission(file).video_index.items()}
    lists = scored.lists
    return [
        (names[int(video)], float(start), float(end)) if count and int(video) in names else None
        for count, video, start, end in zip(lists.counts(), lists.video[:, 0], lists.start[:, 0], lists.end[:, 0])
    ]
