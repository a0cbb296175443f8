"""The board of a data set: every submission scored on the same ground truth, best first."""

import re
from pathlib import Path

import numpy as np

from verified.benchmark.answers import GroundTruth
from verified.benchmark.board.cards import Entry, read_board, truth_of
from verified.benchmark.comparison.ground_truth import read_ground_truth
from verified.benchmark.intervals import intra_class_correlation, mean_interval, typical_correlation
from verified.errors import InputError
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table, estimate


def board_table(folder: Path) -> Table:
    """The board of a data set's folder. Raises InputError, naming it, for any submission that cannot be scored."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", folder.name):
        raise InputError(
            "no name for a data set of a board", file=folder, remedy="call it by letters, digits and hyphens of ASCII"
        )
    truth = read_ground_truth(truth_of(folder))
    columns, videos = truth.shown, np.array([query.video for query in truth.queries()])
    rows, alike = [], []
    for entry in read_board(folder, truth.ending):
        numbers = scores(entry, truth)
        found = mean_interval(100 * numbers, videos, top=100)
        cells = [estimate(*bounds, len(numbers)) for bounds in zip(found.value, found.low, found.high)]
        alike += intra_class_correlation(numbers, videos).tolist()
        card = entry.card
        about = (entry.folder.name, card["model"], card["features"], card["trained_on"])
        rows.append((*about, len(entry.files), *cells, card["command"], card["commit"]))
    first = 5
    rows.sort(key=lambda row: (-getattr(row[first], "value", row[first]), row[0]))
    header = ("Submission", "Model", "Features", "Trained on", "Seeds", *columns, "Command", "Commit")
    said = typical_correlation(alike)
    notes = [
        f"{len(videos)} queries in {len(set(videos))} videos; intra-class correlation of queries of one video {said}."
        " Percent, mean over seeds; in brackets: 95 % interval over test videos, drawn with all of their queries, and"
        " over seeds.",
        f"Ordered by {columns[0]}, which says of neighbours not that one is ahead: `verified compare` does. Spans are"
        " suppressed at the tIoU of each card.",
    ]
    if any(isinstance(row[first], Estimate) and row[first].trainings == 1 for row in rows):
        notes.append(ONE_TRAINING_NOTE)
    return Table(f"board-{folder.name.lower()}", f"submissions on {folder.name}", header, rows, notes)


def scores(entry: Entry, truth: GroundTruth) -> np.ndarray:
    """[seeds, queries, columns] from 0 to 1. Raises InputError where a file lacks a column."""
    per_training = []
    for file in entry.files:
        values = truth.answers(file, entry.card["nms"]).values
        if missing := [column for column in truth.shown if column not in values]:
            raise InputError(f"gives no {missing[0]}", file=file, remedy=f"a board shows {', '.join(truth.shown)}")
        per_training.append(np.stack([values[column].astype(np.float64) for column in truth.shown], axis=1))
    return np.stack(per_training)
