"""Paired differences between rows of a table, with intervals.

Every column has a pair: rows of one method that differ in their training captions, fine minus coarse and highest minus
lowest; in tables of methods, the best minus the next.
"""

from dataclasses import dataclass

from verified.benchmark.first_stages import UNTRAINED
from verified.tables.collect import Cell, Collection, ranked_rivals
from verified.tables.layout import Column, PaperTable, Row
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table, estimate, format_value, p_or_why

BASELINE = {"FIG": "COG", "FIG-highest": "FIG-lowest"}
DIGITS = 2


@dataclass(frozen=True)
class Gain:
    """Points of recall by which the first run is ahead of the second, over the same queries and all trainings."""

    dataset: str
    """The data set's title."""
    first: str
    second: str
    test: str
    metric: str
    points: Estimate | float
    p_value: float | str
    """The p-value, or the reason for its absence."""


def gains(
    table: PaperTable, collection: Collection, dataset: str, title: str, cells: dict[tuple[Row, Column], Cell]
) -> list[Gain]:
    """The gains of one data set's block of a table; `cells` as of `Collection.cells`."""
    listed = []
    for column in table.columns:
        if column.task in ("VCMR", "SVMR", "VR"):
            for first, second in _pairs(table, column, cells):
                found = collection.difference(first, second, dataset, column)
                points = estimate(found.value, found.low, found.high, found.trainings, DIGITS)
                names = title, _name(first), _name(second), first.test, f"{column.task} {column.metric}"
                listed.append(Gain(*names, points, p_or_why(found.p)))
    return listed


def _name(row: Row) -> str:
    return row.method if row.train == UNTRAINED else f"{row.method} trained on {row.train}"


def _pairs(table: PaperTable, column: Column, cells: dict[tuple[Row, Column], Cell]) -> list[tuple[Row, Row]]:
    rows = [row for row in table.rows if row.method and cells[row, column].value is not None]
    pairs = [
        (row, other)
        for row in rows
        for other in rows
        if (row.method, row.test, BASELINE.get(row.train)) == (other.method, other.test, other.train)
    ]
    if pairs:
        return pairs
    return [(first, second) for first, second, *_ in ranked_rivals(table, column, cells)]


def gain_lines(listed: list[Gain]) -> list[str]:
    """A sentence per pair of runs for a table's foot."""
    by_pair: dict[tuple, list[str]] = {}
    for gain in listed:
        value = gain.points.value if isinstance(gain.points, Estimate) else gain.points
        text = f"{gain.metric} {'+' if value >= 0 else ''}{format_value(gain.points, DIGITS)}"
        by_pair.setdefault((gain.dataset, gain.first, gain.second, gain.test), []).append(text)
    return [
        f"{dataset}, {first} minus {second}, tested on {test}: {', '.join(texts)}."
        for (dataset, first, second, test), texts in by_pair.items()
    ]


def gains_table(listed: list[Gain]) -> Table:
    """All gains of a run, each once."""
    values = (
        (gain.dataset, gain.first, gain.second, gain.test, gain.metric, gain.points, gain.p_value) for gain in listed
    )
    rows = list(dict.fromkeys(values))
    notes = [
        "Points of the first minus the second on the same queries; in brackets: 95 % interval over test videos, drawn"
        " whole, and over trainings."
    ]
    if any(isinstance(gain.points, Estimate) and gain.points.trainings == 1 for gain in listed):
        notes.append(ONE_TRAINING_NOTE)
    header = ("Data set", "First", "Second", "Test", "Metric", "Gain", "p")
    return Table("gains", "paired differences between runs", header, rows, notes, (0, 0, 0, 0, 0, DIGITS, 3))
