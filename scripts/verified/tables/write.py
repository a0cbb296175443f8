"""Write all tables of a run into one folder."""

from pathlib import Path

from verified.common.files import write_text
from verified.tables.collect import Cell, Collection
from verified.tables.layout import TABLES, TITLES, Table
from verified.tables.provenance import provenance, studies
from verified.tables.render import Block, csv_table, csv_text, html_page, latex, markdown
from verified.tables.reproduction import place_of, printed_values

FORMS = {"csv": csv_table, "md": markdown, "tex": latex, "html": html_page}
TIDY = (
    *("table", "dataset", "method", "train", "test", "task", "metric"),
    *("value", "low", "high", "spread", "printed", "difference", "note"),
)


def write_tables(
    folder: Path, settings: dict, collection: Collection, project: Path, printed: list[dict] = ()
) -> list[str]:
    """Write every table in every form and `all.csv`, the tidy frame behind them; returns the provenance lines.

    `printed` are the paper's figures; they stand beside ours where the data set is the paper's, never beside the demo.
    """
    lines = provenance(settings, collection, project)
    paper = printed_values(printed)
    tidy = []
    for table in TABLES:
        table = table.with_models(collection.extra_models())
        table = _reduced(table, settings)
        blocks = [
            Block(values["title"], table.rows, collection.cells(table, name))
            for name, values in settings["datasets"].items()
        ]
        for block, values in zip(blocks, settings["datasets"].values()):
            if values["source"]["kind"] != "demo":
                for (row, column), cell in block.cells.items():
                    cell.printed = paper.get((block.title, *place_of(table, row, column)))
        graded = any(column.task == "user-study" for column in table.columns)
        below = lines + studies(settings, collection) if graded else lines
        for ending, form in FORMS.items():
            write_text(folder / f"{table.key}.{ending}", form(table, blocks, below))
        tidy += [row for block in blocks for row in _tidy(table, block)]
    write_text(folder / "all.csv", csv_text(list(TIDY), tidy, lines))
    return lines


def _reduced(table: Table, settings: dict) -> Table:
    """Rows of models that this configuration does not train are left out, unless none would remain."""
    wanted = {TITLES.get(model, model) for model in settings["retrieval"]["models"]}
    rows = tuple(row for row in table.rows if not row.method or row.method in wanted)
    return table if not rows else Table(table.key, table.title, table.stubs, rows, table.columns)


def _tidy(table: Table, block: Block) -> list[list]:
    out = []
    for row in block.rows:
        for column in table.columns:
            cell = block.cells[row, column]
            trained = row.train or column.train
            place = [table.key, block.title, row.method, trained, row.test, column.task, column.metric]
            found = [cell.value, cell.low, cell.high, cell.spread, cell.printed, _difference(cell), cell.note]
            out.append(place + found)
    return out


def _difference(cell: Cell) -> float | None:
    return None if cell.value is None or cell.printed is None else round(cell.value - cell.printed, 6)
