"""The board of a data set: every submission scored on the same ground truth, best first."""

import re
from pathlib import Path

import numpy as np

from verified.benchmark.board.cards import TRUTH, Entry, read_board
from verified.benchmark.intervals import intra_class_correlation, mean_interval
from verified.benchmark.vcmr.evaluate import scored_tasks
from verified.benchmark.vcmr.submission import read_truth
from verified.errors import InputError
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, SimpleTable, estimate

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


def board_table(folder: Path) -> SimpleTable:
    """The board of a data set's folder. Raises InputError, naming it, for any submission that cannot be scored."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", folder.name):
        raise InputError(
            "no name for a data set of a board", file=folder, remedy="call it by letters, digits and hyphens of ASCII"
        )
    truth = folder / TRUTH
    moments = read_truth(truth)
    videos = np.array([moment.video for moment in moments.values()])
    rows, alike = [], []
    for entry in read_board(folder):
        values = scores(entry, truth, moments)
        numbers = np.stack([values[column] for column in COLUMNS], axis=2)
        found = mean_interval(100 * numbers, videos, top=100)
        cells = [estimate(*bounds, len(numbers)) for bounds in zip(found.value, found.low, found.high)]
        alike += [float(one) for one in intra_class_correlation(numbers, videos) if not np.isnan(one)]
        card = entry.card
        about = (entry.folder.name, card["model"], card["features"], card["trained_on"])
        rows.append((*about, len(entry.files), *cells, card["command"], card["commit"]))
    first = 5
    rows.sort(key=lambda row: (-getattr(row[first], "value", row[first]), row[0]))
    header = ("Submission", "Model", "Features", "Trained on", "Seeds", *COLUMNS, "Command", "Commit")
    said = (
        f"{np.median(alike):.2f} (median of the cells, {min(alike):.2f} to {max(alike):.2f})" if alike else "not known"
    )
    notes = [
        f"{len(moments)} queries in {len(set(videos))} videos; intra-class correlation of queries of one video {said}."
        " Percent, mean over seeds; in brackets: 95 % interval over test videos, drawn with all of their queries, and"
        " over seeds.",
        f"Ordered by {COLUMNS[0]}, which says of neighbours not that one is ahead: `verified compare` does. Spans are"
        " suppressed at the tIoU of each card.",
    ]
    if any(isinstance(row[first], Estimate) and row[first].trainings == 1 for row in rows):
        notes.append(ONE_TRAINING_NOTE)
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
