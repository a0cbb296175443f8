"""The board of a data set: every submission scored on the same ground truth, best first."""

import re
from pathlib import Path

import numpy as np

from verified.board.cards import TRUTH, Entry, read_board
from verified.common.bootstrap import interval, two_level_means
from verified.common.errors import InputError
from verified.retrieval.evaluate import scored_tasks
from verified.retrieval.submission import read_truth
from verified.tables.simple import Estimate, SimpleTable

COLUMNS = (
    "VCMR/0.5/r1",
    "VCMR/0.5/r10",
    "VCMR/0.7/r1",
    "VCMR/0.7/r10",
    "SVMR/0.5/r1",
    "SVMR/0.7/r1",
    "VR/r1",
    "VR/r10",
)
"""What is shown; the first one orders the board."""


def board_table(folder: Path, resamples: int, seed: int) -> SimpleTable:
    """The board of a data set's folder. Raises InputError, naming it, for any submission that cannot be scored."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", folder.name):
        raise InputError(
            "no name for a data set of a board", file=folder, remedy="call it by letters, digits and hyphens of ASCII"
        )
    truth = folder / TRUTH
    moments = read_truth(truth)
    rows = []
    for entry in read_board(folder):
        values = scores(entry, truth, moments)
        cells = [_estimate(values[column], resamples, seed, entry.folder.name) for column in COLUMNS]
        card = entry.card
        about = (entry.folder.name, card["model"], card["features"], card["trained_on"])
        rows.append((*about, len(entry.files), *cells, card["command"], card["commit"]))
    first = 5
    rows.sort(key=lambda row: (-row[first].value, row[0]))
    header = ("Submission", "Model", "Features", "Trained on", "Seeds", *COLUMNS, "Command", "Commit")
    notes = [
        f"{len(moments)} queries. Percent, mean over seeds; in brackets: 95 % interval by resampling queries and,"
        " where there are several, seeds.",
        f"Ordered by {COLUMNS[0]}. Spans are suppressed at the tIoU of each card.",
    ]
    return SimpleTable(f"board-{folder.name.lower()}", f"submissions on {folder.name}", header, rows, notes)


def scores(entry: Entry, truth: Path, moments: dict) -> dict[str, np.ndarray]:
    """{TASK/METRIC: [seeds, queries]} of the columns. Raises InputError where a file lacks one."""
    per_training = []
    for file in entry.files:
        tasks = scored_tasks(moments, truth, file, entry.card["nms"], False, [])
        per_training.append({f"{scored.task}/{metric}": v for scored in tasks for metric, v in scored.values.items()})
        for column in COLUMNS:
            if column not in per_training[-1]:
                raise InputError(f"has no {column.split('/')[0]} lists", file=file, remedy="give VCMR, SVMR and VR")
    return {column: np.stack([values[column].astype(np.float64) for values in per_training]) for column in COLUMNS}


def _estimate(values: np.ndarray, resamples: int, seed: int, name: str) -> Estimate:
    low, high = interval(two_level_means(100 * values[:, :, None], resamples, seed, name)[:, 0])
    return Estimate(*(round(float(number), 2) for number in (100 * values.mean(), low, high)))
