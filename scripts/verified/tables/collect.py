"""One tidy frame from the JSON files of a run: a row per cell of a table."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.common.bootstrap import interval, paired_p_value, resampled_means
from verified.common.jsonl import read_json
from verified.tables.layout import FOLDERS, TITLES, Column, Row, Table

SIGNIFICANT = 0.05
RATERS = "needs people: three grades for each of 100 captions"


@dataclass
class Cell:
    """One value with what is known about it. `value` is None for a gap, and `note` then says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    """Standard deviation over seeds, where there are several."""
    best: bool = False
    """Significantly better than every other row of its block (paired bootstrap, p < 0.05)."""
    note: str = ""
    printed: float | None = None
    """The paper's figure, where the data set is the paper's."""


@dataclass
class Run:
    """All seeds of one model, trained on one corpus and tested on another."""

    metrics: list[dict] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def hits(self, name: str) -> np.ndarray:
        """Hits per query, [queries], averaged over seeds; queries in the order of their ids."""
        per_seed = []
        for folder in self.folders:
            with np.load(folder / "hits.npz") as arrays:
                order = np.argsort(arrays["desc_id"], kind="stable")
                per_seed.append(arrays[name][order].astype(np.float64))
        return np.mean(per_seed, axis=0)


class Collection:
    """What a run has built, by data set."""

    def __init__(self, metrics: list[str], statistics: list[str], resamples: int, seed: int):
        self.resamples, self.seed = resamples, seed
        self.runs: dict[tuple[str, str, str, str], Run] = {}
        for path in sorted(metrics):
            values = read_json(path)
            key = (values["dataset"], values["model"], values["trained_on"], values["tested_on"])
            run = self.runs.setdefault(key, Run())
            run.metrics.append(values)
            run.folders.append(Path(path).parent)
        self.statistics: dict[tuple[str, str], dict] = {}
        for path in statistics:
            parts = Path(path).parts  # results/DATASET/statistics/NAME.json, results/DATASET/study/summary.json
            self.statistics[parts[-3], "study" if parts[-2] == "study" else Path(path).stem] = read_json(path)

    def extra_models(self) -> list[str]:
        """Models that the paper does not have."""
        return sorted({model for _, model, _, _ in self.runs} - set(TITLES))

    def cells(self, table: Table, dataset: str) -> dict[tuple[Row, Column], Cell]:
        """All cells of one data set's block."""
        cells = {(row, column): self._cell(row, column, dataset) for row in table.rows for column in table.columns}
        for column in table.columns:
            self._mark_best(table, column, dataset, cells)
        return cells

    def _cell(self, row: Row, column: Column, dataset: str) -> Cell:
        return self._recall(row, column, dataset) if row.method else self._statistic(column, dataset)

    def run_of(self, row: Row, dataset: str) -> Run | None:
        """The run behind a row, or None if it was not made."""
        model = {title: name for name, title in TITLES.items()}.get(row.method, row.method)
        return self.runs.get((dataset, model, FOLDERS[row.train], FOLDERS[row.test]))

    def _recall(self, row: Row, column: Column, dataset: str) -> Cell:
        run = self.run_of(row, dataset)
        if run is None:
            return Cell(None, note=f"{row.method} was not trained on {row.train} and tested on {row.test} in this run")
        if column.task == "VR" and int(column.metric.removeprefix("r")) >= run.metrics[0]["videos"]:
            return Cell(None, note=f"{column.metric} cannot be other than 100: the corpus has "
                                   f"{run.metrics[0]['videos']} videos")  # fmt: skip
        metric = column.metric.replace("/", "-")
        values = [seed["metrics"][column.task][metric] for seed in run.metrics]
        if len(values) == 1:
            low, high = run.metrics[0]["intervals"][column.task][metric]
            return Cell(values[0], low, high)
        means = 100 * resampled_means(run.hits(f"{column.task}/{metric}")[:, None], self.resamples, self.seed)[:, 0]
        low, high = interval(means)
        return Cell(float(np.mean(values)), float(low), float(high), float(np.std(values, ddof=1)))

    def _mark_best(self, table: Table, column: Column, dataset: str, cells: dict) -> None:
        rows = [row for row in table.rows if row.method and cells[row, column].value is not None]
        by_test: dict[str, list[Row]] = {}
        for row in rows:
            by_test.setdefault(row.test, []).append(row)
        name = f"{column.task}/{column.metric.replace('/', '-')}"
        for rivals in by_test.values():
            if len(rivals) < 2:
                continue
            first, *others = sorted(rivals, key=lambda row: -cells[row, column].value)
            hits = self.run_of(first, dataset).hits(name)
            cells[first, column].best = all(
                paired_p_value(hits, self.run_of(other, dataset).hits(name), self.resamples, self.seed) < SIGNIFICANT
                for other in others
            )

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


def _language(values: dict, column: Column) -> Cell:
    return Cell(values[column.train.lower()][column.metric])


def _many_to_many(values: dict, column: Column) -> Cell:
    return Cell(values[column.train.lower()][column.metric])


def _annotation(values: dict, column: Column) -> Cell:
    value = values[column.metric]
    return Cell(value, note="" if value is not None else "the annotations do not say which captions are of this type")


def _study(values: dict, column: Column) -> Cell:
    found = values["measures"][column.metric]
    if found["value"] is None:
        return Cell(None, note="the study asked about no caption of this type")
    return Cell(found["value"], found["low"], found["high"])


_STATISTICS = {
    "statistics": ("language", _language),
    "many-to-many": ("many_to_many", _many_to_many),
    "annotation": ("confidence", _annotation),
    "user-study": ("study", _study),
}
