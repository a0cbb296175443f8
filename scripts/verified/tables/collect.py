"""One tidy frame from the JSON files of a run, a row per cell of a table, and paired differences between rows.

Every column has a pair: rows of one method that differ in their training captions, fine minus coarse and highest minus
lowest; in tables of methods, the best minus the next.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import (
    SIGNIFICANT,
    Interval,
    Paired,
    compare_paired,
    intra_class_correlation,
    mean_interval,
)
from verified.benchmark.vcmr.metrics import VIDEO_RECALLS
from verified.benchmark.vcmr.results import PerQuery, read_metrics, read_per_query
from verified.io.jsonl import read_json
from verified.tables.layout import FOLDERS, TITLES, UNTRAINED, Column, PaperTable, Row, model_of, title_of
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table, Value, estimate, p_or_why

RATERS = "needs people: three grades for each of 100 captions"


@dataclass
class Cell:
    """One value with its provenance. `value` is None for a gap, and `note` then gives the reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    """Standard deviation over trainings, if there are several."""
    trainings: int | None = None
    """Number of trainings of the model; None if untrained."""
    best: bool = False
    """Significantly better than every other row of its block, of several trainings each (paired, p < 0.05)."""
    note: str = ""
    published: float | None = None
    """The paper's figure, where the data set is the paper's."""


@dataclass
class Run:
    """All trainings (seeds) of one model on one corpus, tested on another."""

    metrics: list[dict] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    @property
    def seeds(self) -> list[int]:
        """Seeds of the trainings."""
        return [values["seed"] for values in self.metrics]

    def lacks(self, task: str) -> bool:
        """Whether the task asks for spans, and the model only ranks videos."""
        return task != "VR" and self.metrics[0].get("localises") is False

    def mean(self, task: str, metric: str) -> float:
        """Percent over queries and trainings."""
        return float(np.mean([values["metrics"][task][metric] for values in self.metrics]))

    def spread(self, task: str, metric: str) -> float | None:
        """Standard deviation over trainings, in points; None for one."""
        values = [values["metrics"][task][metric] for values in self.metrics]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None


class Collection:
    """Results of a run, by data set."""

    def __init__(self, metrics: list[str], statistics: list[str]):
        self._read: dict[tuple, tuple[PerQuery, Interval]] = {}
        self.runs: dict[tuple[str, str, str, str], Run] = {}
        for path in sorted(metrics):
            values = read_metrics(path)
            key = (values["dataset"], values["model"], values["trained_on"], values["tested_on"])
            run = self.runs.setdefault(key, Run())
            run.metrics.append(values)
            run.folders.append(Path(path).parent)
        self.statistics: dict[tuple[str, str], dict] = {}
        for path in statistics:
            parts = Path(path).parts  # results/DATASET/statistics/NAME.json, results/DATASET/study/summary.json
            self.statistics[parts[-3], "study" if parts[-2] == "study" else Path(path).stem] = read_json(path)

    def extra_rows(self) -> list[Row]:
        """Rows beyond the paper: additional models, and rankings without training."""
        extra = {(model, trained) for _, model, trained, _ in self.runs if model not in TITLES}
        named = sorted((title_of(model), UNTRAINED if trained == UNTRAINED else "FIG") for model, trained in extra)
        return [Row((title,), title, trained, "FIG") for title, trained in named]

    def finest_captions(self, dataset: str) -> str:
        """``fig``, or ``cog`` where every run of the data set was tested on coarse captions."""
        tested = {tested_on for name, *_, tested_on in self.runs if name == dataset}
        return "cog" if tested == {"cog"} else "fig"

    def of_dataset(self, table: PaperTable, dataset: str) -> PaperTable:
        """The table for one data set: methods are trained and tested on coarse captions where no run has fine ones."""
        if not table.lists_methods or self.finest_captions(dataset) != "cog":
            return table
        coarse = [replace(row, train="COG", test="COG") if row.train == "FIG" else row for row in table.rows]
        return replace(table, rows=tuple(coarse))

    def cells(self, table: PaperTable, dataset: str) -> dict[tuple[Row, Column], Cell]:
        """All cells of one data set's block."""
        cells = {
            (row, column): self._recall(row, column, dataset) if row.method else self._statistic(column, dataset)
            for row in table.rows
            for column in table.columns
        }
        for column in table.columns:
            self._mark_best(table, column, dataset, cells)
        return cells

    def run_of(self, row: Row, dataset: str) -> Run | None:
        """The run behind a row, or None if it was not made."""
        return self.runs.get(_key_of(row, dataset))

    def difference(self, first: Row, second: Row, dataset: str, column: Column) -> Paired:
        """The first row's cell minus the second's in points."""
        of, name = self._of(first, dataset)[0], f"{column.task}/{column.metric}"
        one, two = (100 * self._of(row, dataset)[0].values[name] for row in (first, second))
        return compare_paired(one, two, of.video, trained=(first.train != UNTRAINED, second.train != UNTRAINED))

    def units(self, row: Row, dataset: str, column: Column) -> tuple[int, int, float]:
        """Queries and videos behind a cell, and the correlation of answers to queries of one video."""
        of, name = self._of(row, dataset)[0], f"{column.task}/{column.metric}"
        correlations = intra_class_correlation(of.values[name][:, :, None], of.video)
        return len(of.video), len(np.unique(of.video)), float(correlations[0])

    def _interval(self, row: Row, dataset: str, column: Column) -> tuple[float | None, float | None]:
        of, intervals = self._of(row, dataset)
        position = list(of.values).index(f"{column.task}/{column.metric}")
        low, high = (float(side[position]) for side in (intervals.low, intervals.high))
        return None if np.isnan(low) else round(low, 2), None if np.isnan(high) else round(high, 2)

    def _of(self, row: Row, dataset: str) -> tuple[PerQuery, Interval]:
        key = _key_of(row, dataset)
        if key not in self._read:
            of = read_per_query(self.runs[key].folders)
            self._read[key] = of, mean_interval(100 * np.stack(list(of.values.values()), axis=2), of.video, top=100)
        return self._read[key]

    def _recall(self, row: Row, column: Column, dataset: str) -> Cell:
        run = self.run_of(row, dataset)
        if run is None:
            done = "asked" if row.train == UNTRAINED else f"trained on {row.train} and tested on {row.test}"
            return Cell(None, note=f"{row.method} was not {done} in this run")
        if run.lacks(column.task):
            return Cell(None, note=f"{row.method} only ranks videos")
        videos = run.metrics[0]["videos"]
        if column.task == "VR" and column.metric in VIDEO_RECALLS and int(column.metric.removeprefix("r")) >= videos:
            return Cell(None, note=f"{column.metric} cannot be other than 100: the corpus has {videos} videos")
        metric = column.task, column.metric
        low, high = self._interval(row, dataset, column)
        trainings = None if row.train == UNTRAINED else len(run.metrics)
        lists = run.metrics[0].get("videos_of") if column.task in ("VCMR", "VR") else None
        note = f"VCMR of {row.method} rests on {title_of(lists)}'s list, and VR is that of the list" if lists else ""
        return Cell(run.mean(*metric), low, high, run.spread(*metric), trainings, note=note)

    def _mark_best(self, table: PaperTable, column: Column, dataset: str, cells: dict) -> None:
        for first, *others in ranked_rivals(table, column, cells):
            found = (self.difference(first, other, dataset, column).p for other in others)
            cells[first, column].best = all(p is not None and p < SIGNIFICANT for p in found)

    def _statistic(self, column: Column, dataset: str) -> Cell:
        source, read = _STATISTICS[column.task]
        values = self.statistics.get((dataset, source))
        if values is None:
            return Cell(None, note=RATERS if source == "study" else f"statistics/{source}.json was not built")
        cell = read(values, column)
        if cell.value is None:
            cell.note = cell.note or f"the annotations at hand have no {column.train} captions"
        elif values.get("missing_splits"):
            cell.note = f"partial: {'+'.join(values['splits'])}"
        return cell


def _key_of(row: Row, dataset: str) -> tuple[str, str, str, str]:
    return dataset, model_of(row.method), FOLDERS[row.train], FOLDERS[row.test]


def ranked_rivals(table: PaperTable, column: Column, cells: dict[tuple[Row, Column], Cell]) -> list[list[Row]]:
    """Rows tested on the same captions, best first, by test captions; where two or more have a value."""
    by_test: dict[str, list[Row]] = {}
    for row in table.rows:
        if row.method and cells[row, column].value is not None:
            by_test.setdefault(row.test, []).append(row)
    rivals = (rows for rows in by_test.values() if len(rows) > 1)
    return [sorted(rows, key=lambda row: -(cells[row, column].value or 0.0)) for rows in rivals]


def _of_captions(values: dict, column: Column) -> Cell:
    return Cell(values[column.train.lower()][column.metric])


def _annotation(values: dict, column: Column) -> Cell:
    value = values[column.metric]
    return Cell(value, note="" if value is not None else "the annotations do not say which captions are of this type")


def _study(values: dict, column: Column) -> Cell:
    measure = values["measures"][column.metric]
    if measure["value"] is None:
        return Cell(None, note="the study asked about no caption of this type")
    return Cell(measure["value"], measure["low"], measure["high"])


_STATISTICS = {
    "statistics": ("language", _of_captions),
    "many-to-many": ("many_to_many", _of_captions),
    "annotation": ("confidence", _annotation),
    "user-study": ("study", _study),
}


BASELINE = {"FIG": "COG", "FIG-highest": "FIG-lowest"}
DIGITS = 2


def gains(
    table: PaperTable, collection: Collection, dataset: str, title: str, cells: dict[tuple[Row, Column], Cell]
) -> list[tuple[Value, ...]]:
    """Rows of `gains_table` for one data set's block of a table; `cells` as of `Collection.cells`.

    Points of recall by which the first run is ahead of the second, over the same queries and all trainings, and the
    p-value, or the reason for its absence.
    """
    listed = []
    for column in table.columns:
        if column.task in ("VCMR", "SVMR", "VR"):
            for first, second in _pairs(table, column, cells):
                found = collection.difference(first, second, dataset, column)
                points = estimate(found.value, found.low, found.high, found.trainings, DIGITS)
                names = title, _name(first), _name(second), first.test, f"{column.task} {column.metric}"
                listed.append((*names, points, p_or_why(found.p)))
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


def gains_table(listed: list[tuple[Value, ...]]) -> Table:
    """All gains of a run, each once."""
    rows = list(dict.fromkeys(listed))
    notes = [
        "Points of the first minus the second on the same queries; in brackets: 95 % interval over test videos, drawn"
        " whole, and over trainings."
    ]
    if any(isinstance(points, Estimate) and points.trainings == 1 for *_, points, _ in rows):
        notes.append(ONE_TRAINING_NOTE)
    header = ("Data set", "First", "Second", "Test", "Metric", "Gain", "p")
    return Table("gains", "paired differences between runs", header, rows, notes, (0, 0, 0, 0, 0, DIGITS, 3))
