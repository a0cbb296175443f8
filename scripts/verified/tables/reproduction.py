"""A verdict per printed figure: all 1,226 of them, beside what this run has to say.

A figure of ours counts as reproduced when it rounds to the printed one, except where a wider tolerance is stated:

- many-to-many instances of coarse captions: ±3. Hundreds of coarse caption pairs lie within float32 rounding of the
distance threshold; moving it by 0.00001 moves the count by this much for Charades.
- what has an interval, recall foremost: `MARGIN`. Our 95 % interval within it of the printed figure is reproduced, all
of it beyond differs, and in between it cannot be told: noise proves nothing. Of a single training it never can, as the
interval does not hold what another one would give; the paper gives no interval at all.

A data set counts as the paper's when its title is the printed one and its source is not the demo.
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from verified.config.sources import KINDS
from verified.errors import InputError
from verified.tables.bounds import range_without
from verified.tables.collect import RATERS, Cell, Collection
from verified.tables.layout import TABLES, Column, Row, Table
from verified.tables.table import SimpleTable
from verified.tables.verdicts import VERDICTS

KEYS = ("table", "dataset", "method", "train", "test", "task", "metric", "value")
HEADER = (*KEYS, "ours", "difference", "tolerance", "verdict", "note")
MARGIN, SHARE = 1.0, 0.1
"""Points, or as a share of the printed figure where that is more, by which an interval may lie off."""
COARSE_INSTANCES_TOLERANCE = 3
CAPTIONS = {"Charades-FIG": 16128, "DiDeMo-FIG": 41091, "ActivityNet-FIG": 71656}
"""Rows of the released files, as in `config/sources.csv`."""
FEATURES = "needs the videos or the authors' feature archives, and a trained model"


def reproduction(settings: Mapping, collection: Collection, printed: Sequence[dict]) -> list[dict]:
    """One row per printed figure with `HEADER`'s keys; `settings` is the whole configuration as plain values.

    Figures are numbers or None. Raises InputError for a printed figure that no table of ours has a place for.
    """
    names = {
        values["title"]: name
        for name, values in settings["datasets"].items()
        if KINDS[values["source"]["kind"]].comparable
    }
    cells = {title: _cells(collection, name) for title, name in names.items()}
    released = {
        title: KINDS[settings["datasets"][name]["source"]["kind"]].annotations_given for title, name in names.items()
    }
    known = set(_places())
    rows = []
    for figure in printed:
        cell = _place(figure)
        if cell not in known:
            raise InputError(f"the printed figure {figure} has no place in the tables")
        elif figure["task"] == "user-study" and not _was_graded(figure, cells):
            rows.append(_row(figure, None, "not attempted", RATERS))
        elif figure["dataset"] not in names:
            rows.append(_row(figure, None, "not attempted", f"{figure['dataset']} is not part of this run"))
        elif figure["method"] and released[figure["dataset"]] and cells[figure["dataset"]][cell].value is None:
            rows.append(_row(figure, None, "not attempted", FEATURES))
        else:
            values = collection.statistics.get((names[figure["dataset"]], _SOURCES.get(figure["task"], "")), {})
            rows.append(_judge(figure, cells[figure["dataset"]][cell], values, settings["seed"]))
    return rows


def _was_graded(figure: Mapping, cells: Mapping[str, Mapping]) -> bool:
    return figure["dataset"] in cells and cells[figure["dataset"]][_place(figure)].value is not None


def printed_values(printed: Sequence[dict]) -> dict[tuple, float]:
    """The printed figures by data set and place: (dataset, table, method, train, test, task, metric)."""
    return {(figure["dataset"], *_place(figure)): float(figure["value"]) for figure in printed}


def place_of(table: Table, row: Row, column: Column) -> tuple:
    """The place of a cell, as `printed_values` names it without the data set."""
    return _key(table, row, column)


def read_printed(path: str | Path) -> list[dict]:
    """The printed figures, from `config/paper_tables.csv`. Raises InputError if a value is not a number."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, start=2):
        try:
            float(row["value"])
        except (ValueError, KeyError, TypeError):
            raise InputError("a printed value is not a number", file=path, row=number) from None
    return rows


def printed_table(rows: list[dict]) -> SimpleTable:
    """Every printed figure with ours and the verdict: the rows of `reproduction`."""
    return SimpleTable(
        "reproduction", "the printed figures and ours", HEADER, [list(row.values()) for row in rows], digits=4
    )


def verdict_table(rows: list[dict]) -> SimpleTable:
    """How many printed figures have which verdict, by table and in all: from the rows of `reproduction`."""
    counts = Counter((row["table"], row["verdict"]) for row in rows)
    tables = list(dict.fromkeys(row["table"] for row in rows))
    lines = [[table, *(counts[table, verdict] for verdict in VERDICTS)] for table in tables]
    lines.append(
        ["all", *(sum(column) for column in list(zip(*lines))[1:])] if lines else ["all", *(0 for _ in VERDICTS)]
    )
    lines = [[*line, sum(line[1:])] for line in lines]
    return SimpleTable("verdicts", "verdicts on the printed figures", ("Table", *VERDICTS, "figures"), lines)


_SOURCES = {"statistics": "language", "many-to-many": "many_to_many", "annotation": "confidence"}


def _places() -> list[tuple]:
    return [_key(table, row, column) for table in TABLES for row in table.rows for column in table.columns]


def _key(table: Table, row: Row, column: Column) -> tuple:
    return table.key, row.method, row.train or column.train, row.test, column.task, column.metric


def _place(figure: Mapping) -> tuple:
    return tuple(figure[key] for key in ("table", "method", "train", "test", "task", "metric"))


def _cells(collection: Collection, dataset: str) -> dict[tuple, Cell]:
    return {
        _key(table, row, column): cell
        for table in TABLES
        for (row, column), cell in collection.cells(table, dataset).items()
    }


def _judge(figure: Mapping, cell: Cell, values: Mapping, seed: int) -> dict:
    if cell.value is None:
        return _row(figure, None, "not attempted", cell.note or "not computed")
    tolerance = _tolerance(figure, cell)
    missing = values.get("missing_splits")
    if missing:
        return _row(figure, cell.value, "partial", f"partial: {'+'.join(values['splits'])}", tolerance)
    verdict = verdict_of(float(figure["value"]), cell, tolerance)
    notes = [_note(figure, values, verdict, seed)]
    if verdict == "cannot tell":
        few = cell.trainings == 1
        notes.append(
            "one training, of whose noise nothing is known" if few else f"95 %: {cell.low:.2f} to {cell.high:.2f}"
        )
    return _row(figure, cell.value, verdict, "; ".join(filter(None, notes)), tolerance)


def verdict_of(printed: float, cell: Cell, tolerance: float) -> str:
    """Whether a cell's value is the printed one but for `tolerance`, in the cell's unit: one of `VERDICTS`."""
    if cell.value is None:
        return "not attempted"
    if cell.low is None or cell.high is None:
        return "reproduced" if abs(cell.value - printed) <= tolerance + 1e-9 else "differs"
    if cell.trainings == 1:
        return "cannot tell"
    if printed - tolerance <= cell.low and cell.high <= printed + tolerance:
        return "reproduced"
    return "differs" if cell.high < printed - tolerance or cell.low > printed + tolerance else "cannot tell"


def _tolerance(figure: Mapping, cell: Cell) -> float:
    if figure["task"] == "many-to-many" and figure["metric"] == "instances" and figure["train"] == "COG":
        return COARSE_INSTANCES_TOLERANCE
    if cell.low is not None and cell.high is not None:
        return max(MARGIN, SHARE * float(figure["value"]))
    decimals = len(figure["value"].partition(".")[2])
    return 0.5 * 10**-decimals


def _note(figure: Mapping, values: Mapping, verdict: str, seed: int) -> str:
    notes = []
    measured = values.get(figure["train"].lower(), values)
    captions, paper = measured.get("captions"), CAPTIONS.get(figure["dataset"])
    if None not in (captions, paper) and captions != paper:
        notes.append(f"ours counts {captions} captions, the paper {paper}; it does not say which it left out")
        if figure["task"] == "many-to-many" and captions > paper:
            low, high = range_without(measured["members"], captions, captions - paper, figure["metric"], seed)
            holds = "which holds" if low <= float(figure["value"]) <= high else "which does not hold"
            notes.append(
                f"leaving out {captions - paper} at random gives {low} to {high} (95 %), {holds} the printed one"
            )
    if verdict == "differs" and figure["task"] == "statistics" and figure["metric"] != "words":
        model = values["model"]
        notes.append(
            f"the paper names no tagger; ours is spaCy {model['spacy']} with {model['name']} {model['version']}"
        )
    return "; ".join(notes)


def _row(figure: Mapping, ours: float | None, verdict: str, note: str, tolerance: float | None = None) -> dict:
    difference = None if ours is None else round(ours - float(figure["value"]), 6)
    shown = None if ours is None else round(ours, 6)
    rounded = None if tolerance is None else round(tolerance, 6)
    return {
        **{key: figure[key] for key in KEYS},
        "ours": shown,
        "difference": difference,
        "tolerance": rounded,
        "verdict": verdict,
        "note": note,
    }
