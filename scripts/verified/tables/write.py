"""Write all tables of a run into one folder."""

from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from verified.benchmark.published import Published, plain
from verified.errors import InputError
from verified.io.files import write_text
from verified.tables.collect import Cell, Collection, Gain, gain_lines, gains, gains_table
from verified.tables.inputs import Shown
from verified.tables.layout import TABLES, TITLES, PaperTable
from verified.tables.provenance import provenance, studies
from verified.tables.render import (
    Block,
    Sheet,
    csv_text,
    explanation,
    html_page,
    latex,
    markdown,
    remarks,
    sheet,
    values,
)
from verified.tables.reproduction import place_of, published_table, reproduction, verdict_table
from verified.tables.table import Estimate, Table, Value

TIDY = (
    *("table", "dataset", "method", "train", "test", "task", "metric"),
    *("value", "low", "high", "spread", "trainings", "published", "difference", "note"),
)
LABELS = {"Data set": "dataset", "Method": "method", "Train": "train", "Test": "test"}
"""Headings of a simple table that fill a column of the tidy frame; what else names a row goes into `task`."""


def write_tables(
    folder: Path,
    settings: Shown,
    collection: Collection,
    project: Path,
    published: Published = MappingProxyType({}),
    simple: Iterable[Table] = (),
) -> None:
    """Write every table in every form and `all.csv`, the tidy frame behind them.

    A table of the paper that has no value here, neither ours nor published, gets no page: the report shows each page.

    `published` are the paper's figures; they are shown beside ours where the data set is the paper's, never beside the
    demo. `simple` are the tables outside the paper. Raises InputError where two tables have one name.
    """
    lines = provenance(settings, collection, project)
    tidy, every_gain = _write_paper(folder, settings, collection, published, lines) if settings.datasets else ([], [])
    simple = [*simple, *([gains_table(every_gain)] if every_gain else [])]
    if published and settings.datasets:
        rows = reproduction(settings, collection, published)
        judged = any(row["ours"] is not None for row in rows)
        write_simple(folder, published_table(rows), lines, judged)  # its figures are in the tidy frame already
        write_simple(folder, verdict_table(rows), lines, judged)
        tidy += tidy_rows(verdict_table(rows))
    keys = {*(table.key for table in TABLES), "all", "reproduction", "verdicts"}
    for table in simple:
        if table.key in keys:
            raise InputError(f"two tables are called {table.key!r}", remedy="give one of them another key")
        keys.add(table.key)
        write_simple(folder, table, lines)
        tidy += tidy_rows(table)
    write_text(folder / "all.csv", csv_text(pd.DataFrame(tidy, columns=list(TIDY), dtype=object), lines))


def write_simple(folder: Path, table: Table, provenance: list[str], page: bool = True) -> None:
    """Write one simple table in every form, as a page only if asked to; estimates have own columns in the CSV."""
    shown = Sheet(table.key, table.title, list(table.header), table.texts(), table.labels)
    _write_forms(folder, shown, table.notes, provenance, page)
    write_text(folder / f"{table.key}.csv", csv_text(_frame(table), [*table.notes, *provenance]))


def _frame(table: Table) -> pd.DataFrame:
    """Full values; a column with estimates is followed by one each for their bounds."""
    columns = {}
    for n, heading in enumerate(table.header):
        cells = [row[n] for row in table.rows]
        columns[heading] = [cell.value if isinstance(cell, Estimate) else cell for cell in cells]
        if any(isinstance(cell, Estimate) for cell in cells):
            columns[f"{heading} low"] = [getattr(cell, "low", None) for cell in cells]
            columns[f"{heading} high"] = [getattr(cell, "high", None) for cell in cells]
    return pd.DataFrame(columns, dtype=object)


def tidy_rows(table: Table) -> list[dict]:
    """The numbers of a simple table as rows of the tidy frame; texts behind the labels become the row's note."""
    out = []
    counted = [any(not isinstance(row[n], str | None) for row in table.rows) for n in range(len(table.header))]
    for row in table.rows:
        columns: dict[str, Value] = {"table": table.key}
        labels = []
        for heading, text in zip(table.header[: table.labels], row):
            if heading in LABELS:
                columns[LABELS[heading]] = text
            else:
                labels.append(text)
        columns["task"] = "; ".join(labels)
        cells = list(zip(table.header, row, counted))[table.labels :]
        note = "; ".join(f"{heading}: {value}" for heading, value, _ in cells if isinstance(value, str) and value)
        for heading, value, number in cells:
            if number and not isinstance(value, str):
                bounds = (
                    {name: getattr(value, name) for name in ("value", "low", "high", "trainings")}
                    if isinstance(value, Estimate)
                    else {"value": value}
                )
                out.append({**columns, "metric": heading, **bounds, "note": note})
    return out


def _write_paper(
    folder: Path, settings: Shown, collection: Collection, published: Published, lines: list[str]
) -> tuple[list[dict], list[Gain]]:
    """Write the paper's tables; returns their rows of the tidy frame and the gains in their feet."""
    tidy, every_gain = [], []
    for table in TABLES:
        extra = collection.extra_rows()
        table = _drop_absent(table.with_models(extra), settings, {row.method for row in extra})
        blocks = [
            Block(name, data_set.title, table.rows, collection.cells(table, name))
            for name, data_set in settings.datasets.items()
        ]
        for block, data_set in zip(blocks, settings.datasets.values()):
            if data_set.source.comparable:
                for (row, column), cell in block.cells.items():
                    figure = published.get(place_of(table, row, column, block.title))
                    cell.published = None if figure is None else plain(figure)
        block_gains = [
            gain
            for block, name in zip(blocks, settings.datasets)
            for gain in gains(table, collection, name, block.title, block.cells)
        ]
        every_gain += block_gains
        graded = any(column.task == "user-study" for column in table.columns)
        below = [*lines, *studies(settings, collection)] if graded else lines
        notes = [*remarks(blocks), *explanation(table, blocks, collection), *gain_lines(block_gains)]
        cells = [cell for block in blocks for cell in block.cells.values()]
        page = any(cell.value is not None or cell.published is not None for cell in cells)
        _write_forms(folder, sheet(table, blocks), notes, below, page)
        write_text(folder / f"{table.key}.csv", csv_text(values(table, blocks), [*below, *remarks(blocks)]))
        tidy += [row for block in blocks for row in _tidy(table, block)]
    return tidy, every_gain


def _write_forms(folder: Path, shown: Sheet, notes: Iterable[str], provenance: Iterable[str], page: bool) -> None:
    below = [*notes, *provenance]
    write_text(folder / f"{shown.key}.md", markdown(shown, below))
    write_text(folder / f"{shown.key}.tex", latex(shown, below))
    if page:
        write_text(folder / f"{shown.key}.html", html_page(shown, notes, provenance))


def _drop_absent(table: PaperTable, settings: Shown, asked: set[str]) -> PaperTable:
    """Rows of models that this configuration neither trains nor has `asked` are omitted, unless none would remain."""
    wanted = {TITLES.get(model, model) for model in settings.models} | asked
    rows = tuple(row for row in table.rows if not row.method or row.method in wanted)
    return table if not rows else PaperTable(table.key, table.title, table.stubs, rows, table.columns)


def _tidy(table: PaperTable, block: Block) -> list[dict]:
    return [
        {
            **{"table": table.key, "dataset": block.title, "method": row.method, "train": row.train or column.train},
            **{"test": row.test, "task": column.task, "metric": column.metric},
            **{name: getattr(cell, name) for name in ("value", "low", "high", "spread", "trainings", "published")},
            **{"difference": _difference(cell), "note": cell.note},
        }
        for row in block.rows
        for column in table.columns
        for cell in (block.cells[row, column],)
    ]


def _difference(cell: Cell) -> float | None:
    return None if cell.value is None or cell.published is None else round(cell.value - cell.published, 6)
