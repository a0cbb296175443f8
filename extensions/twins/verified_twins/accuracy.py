"""Which of two sentences a model prefers for the true moment: the true one, or its twin.

Both sentences are queries with the same ground truth, answered in two submissions. SVMR: the highest score of a span
that overlaps the true moment by a tIoU of 0.5 is compared (of rows without scores, the rank); both are of one video and
one model. VCMR: the rank of the first row of the true video. A tie counts a half, so chance is 50 %; a missing row
ranks below all rows of a list.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.benchmark.submissions import Query
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.submission import Submission, read_submission
from verified.errors import InputError

TASKS = ("SVMR", "VCMR")
OVERLAP = 0.5


def preferences(truth: Mapping[int, Query], true: Path, twin: Path, ids: Sequence[int]) -> dict[str, np.ndarray]:
    """{task: [queries] 1 where the true sentence is preferred, 0.5 for a tie, 0} of the queries `ids`, by task.

    `true` and `twin`: submissions to the true sentences and to their twins. Only tasks that both have are compared.
    Raises InputError for a submission without one of the queries, or no task in common.
    """
    submissions = read_submission(true), read_submission(twin)
    common = [task for task in TASKS if all(task in each.tasks for each in submissions)]
    if not common:
        raise InputError(f"has no lists of SVMR or VCMR that {true} has as well", file=twin)
    compared = {}
    for task in common:
        grades = [
            np.array([_grade(each, file, task, truth[desc_id], desc_id) for desc_id in ids])
            for each, file in zip(submissions, (true, twin))
        ]
        compared[task] = (grades[0] > grades[1]) + (grades[0] == grades[1]) / 2
    return compared


def measure(
    truth: Mapping[int, Query], pairs: Sequence[tuple[Path, Path]], ids: Sequence[int]
) -> dict[str, dict[str, float | None]]:
    """{task: value, low, high} in percent of a model's trainings, each a pair of submissions (true, twin).

    Intervals are over videos and trainings (`verified.benchmark.intervals`). Raises InputError for no `ids`.
    """
    if not ids:
        raise InputError("no query has a twin")
    each = [preferences(truth, true, twin, ids) for true, twin in pairs]
    tasks = [task for task in TASKS if all(task in values_of for values_of in each)]
    values = np.stack([np.stack([values_of[task] for task in tasks], axis=1) for values_of in each])
    interval = mean_interval(values, [truth[desc_id].video for desc_id in ids])
    bounds = 100 * np.stack([interval.value, interval.low, interval.high])
    return {task: dict(zip(("value", "low", "high"), map(_plain, column))) for task, column in zip(tasks, bounds.T)}


def _plain(number: np.floating) -> float | None:
    return None if np.isnan(number) else float(number)


def _grade(submission: Submission, file: Path, task: str, moment: Query, desc_id: int) -> float:
    """How high a list places the true moment (SVMR, a score) or its video (VCMR, minus its rank)."""
    rows = submission.tasks[task].get(desc_id)
    if rows is None:
        raise InputError(
            f"{task} has no list of desc_id {desc_id}", file=file, remedy="answer every query of the twins"
        )
    mine = np.flatnonzero(rows[:, 0] == submission.video_index.get(moment.video, -1))
    if task == "VCMR":
        return -float(mine[0]) if len(mine) else -np.inf
    right = [at for at in mine if max(tiou(rows[at, 1], rows[at, 2], *span) for span in moment.spans) >= OVERLAP]
    return float(rows[right, 3].max()) if right else -np.inf
