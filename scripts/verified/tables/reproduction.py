"""A verdict per published figure: all 1,226 of them, compared with this run.

A figure of ours counts as reproduced when it rounds to the published one, except for two wider tolerances:

- many-to-many instances of coarse captions: ±3. Hundreds of coarse caption pairs are within float32 rounding of the
  distance threshold; moving it by 0.00001 moves the count by this much for Charades.
- figures with an interval, recall foremost: `MARGIN`. Our 95 % interval within it of the published figure is
  reproduced, all of it beyond differs, otherwise it cannot tell: noise proves nothing. A single training
  can never tell, as its interval lacks the noise of training; the paper gives no interval at all.

A data set counts as the paper's when its title is the published one and its source is not the demo.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from verified.benchmark.published import VERDICTS, Place, Published, plain, rounding, verdict_of
from verified.errors import InputError
from verified.tables.collect import RATERS, Cell, Collection
from verified.tables.layout import TABLES, Column, PaperTable, Row
from verified.tables.shown import PAPER, Shown
from verified.tables.table import Table

HEADER = (*Place._fields, "value", "ours", "difference", "tolerance", "verdict", "note")
MARGIN, SHARE = 1.0, 0.1
"""Tolerance of an interval in points, or as a share of the published figure if that is more."""
COARSE_INSTANCES_TOLERANCE = 3
ABSENT = "{} is not part of this run"
FEATURES = "needs the videos or the authors' feature archives, and a trained model"


def reproduction(settings: Shown, collection: Collection, published: Published) -> list[dict]:
    """One row per published figure with `HEADER`'s keys.

    Figures are numbers or None. Raises InputError for a published figure without a cell in our tables.
    """
    names = {data_set.title: name for name, data_set in settings.datasets.items() if data_set.source.comparable}
    cells = {place: cell for title, name in names.items() for place, cell in _cells(collection, name, title).items()}
    known = {place_of(table, row, column, "") for table in TABLES for row in table.rows for column in table.columns}
    rows = []
    for place, figure in published.items():
        cell, name = cells.get(place, Cell(None)), names.get(place.dataset)
        if place._replace(dataset="") not in known:
            raise InputError(f"the published figure {place} has no place in the tables")
        elif place.task == "user-study" and cell.value is None:
            rows.append(_row(place, figure, None, "not attempted", RATERS))
        elif name is None:
            rows.append(_row(place, figure, None, "not attempted", ABSENT.format(place.dataset)))
        elif place.method and cell.value is None and settings.datasets[name].source.annotations_given:
            rows.append(_row(place, figure, None, "not attempted", FEATURES))
        else:
            values = collection.statistics.get((name, _SOURCES.get(place.task, "")), {})
            rows.append(_judge(place, figure, cell, values, settings.seed))
    return rows


def place_of(table: PaperTable, row: Row, column: Column, dataset: str) -> Place:
    """The place of a cell of a data set with this title."""
    return Place(table.key, dataset, row.method, row.train or column.train, row.test, column.task, column.metric)


def published_table(rows: list[dict]) -> Table:
    """Every published figure with ours and the verdict: the rows of `reproduction`, but one line for all figures of a
    data set that is no part of the run.
    """
    absent = {row["dataset"] for row in rows if row["note"] == ABSENT.format(row["dataset"])}
    shown = [row for row in rows if row["dataset"] not in absent]
    for dataset, count in Counter(row["dataset"] for row in rows if row["dataset"] in absent).items():
        empty = dict.fromkeys(HEADER)
        shown.append(
            empty
            | {"dataset": dataset, "verdict": "not attempted", "note": f"{count} figures: {ABSENT.format(dataset)}"}
        )
    return Table(
        "reproduction", "the published figures and ours", HEADER, [list(row.values()) for row in shown], digits=4
    )


def verdict_table(rows: list[dict]) -> Table:
    """Published figures by verdict, by table and in all: from the rows of `reproduction`."""
    counts = Counter((row["table"], row["verdict"]) for row in rows)
    tables = list(dict.fromkeys(row["table"] for row in rows))
    lines = [[table, *(counts[table, verdict] for verdict in VERDICTS)] for table in tables]
    lines.append(
        ["all", *(sum(column) for column in list(zip(*lines))[1:])] if lines else ["all", *(0 for _ in VERDICTS)]
    )
    lines = [[*line, sum(line[1:])] for line in lines]
    return Table("verdicts", "verdicts on the published figures", ("Table", *VERDICTS, "figures"), lines)


_SOURCES = {"statistics": "language", "many-to-many": "many_to_many", "annotation": "confidence"}


def _cells(collection: Collection, dataset: str, title: str) -> dict[Place, Cell]:
    return {
        place_of(table, row, column, title): cell
        for table in TABLES
        for (row, column), cell in collection.cells(table, dataset).items()
    }


def _judge(place: Place, figure: str, cell: Cell, values: Mapping, seed: int) -> dict:
    if cell.value is None:
        return _row(place, figure, None, "not attempted", cell.note or "not computed")
    tolerance = _tolerance(place, figure, cell)
    missing = values.get("missing_splits")
    if missing:
        return _row(place, figure, cell.value, "partial", f"partial: {'+'.join(values['splits'])}", tolerance)
    verdict = verdict_of(plain(figure), cell.value, tolerance, cell.low, cell.high, cell.trainings)
    notes = [_note(place, figure, values, verdict, seed)]
    if verdict == "cannot tell":
        few = cell.trainings == 1
        notes.append(
            "one training, of whose noise nothing is known" if few else f"95 %: {cell.low:.2f} to {cell.high:.2f}"
        )
    return _row(place, figure, cell.value, verdict, "; ".join(filter(None, notes)), tolerance)


def _tolerance(place: Place, figure: str, cell: Cell) -> float:
    if (place.task, place.metric, place.train) == ("many-to-many", "instances", "COG"):
        return COARSE_INSTANCES_TOLERANCE
    if cell.low is not None and cell.high is not None:
        return max(MARGIN, SHARE * plain(figure))
    return rounding(figure)


def _note(place: Place, figure: str, values: Mapping, verdict: str, seed: int) -> str:
    notes = []
    measured = values.get(place.train.lower(), values)
    captions, paper = measured.get("captions"), PAPER.get(place.dataset)
    if None not in (captions, paper) and captions != paper:
        notes.append(f"ours counts {captions} captions, the paper {paper}; it does not say which it left out")
        if place.task == "many-to-many" and captions > paper:
            low, high = range_without(measured["members"], captions, captions - paper, place.metric, seed)
            holds = "which holds" if low <= plain(figure) <= high else "which does not hold"
            notes.append(
                f"leaving out {captions - paper} at random gives {low} to {high} (95 %), {holds} the published one"
            )
    if verdict == "differs" and place.task == "statistics" and place.metric != "words":
        model = values["model"]
        notes.append(
            f"the paper names no tagger; ours is spaCy {model['spacy']} with {model['name']} {model['version']}"
        )
    return "; ".join(notes)


def _row(
    place: Place, figure: str, ours: float | None, verdict: str, note: str, tolerance: float | None = None
) -> dict:
    difference = None if ours is None else round(ours - plain(figure), 6)
    shown = None if ours is None else round(ours, 6)
    rounded = None if tolerance is None else round(tolerance, 6)
    return {
        **place._asdict(),
        "value": figure,
        "ours": shown,
        "difference": difference,
        "tolerance": rounded,
        "verdict": verdict,
        "note": note,
    }


DRAWS = 1000


def range_without(members: list[dict], captions: int, removed: int, figure: str, seed: int) -> tuple[int, int]:
    """The middle 95 % of a count after leaving out `removed` of `captions` captions at random.

    `members` are the classes of ``many_to_many.json``; `figure` is ``classes`` (those that still have two captions) or
    ``instances`` (the captions in them). Captions of a class are treated as all similar, so that a class never splits.
    """
    sizes = np.array([member["size"] for member in members], np.int64)
    single = captions - sizes.sum()
    draws = np.random.default_rng(seed).multivariate_hypergeometric([*sizes, single], removed, DRAWS)[:, :-1]
    remaining = sizes - draws
    still_classes = remaining >= 2
    counts = still_classes.sum(axis=1) if figure == "classes" else np.where(still_classes, remaining, 0).sum(axis=1)
    low, high = np.percentile(counts, [2.5, 97.5], method="nearest")
    return int(low), int(high)
