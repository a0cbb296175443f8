"""A table as shown: texts, bold marks and reasons behind gaps, as Markdown, plain text, CSV, LaTeX (booktabs) and HTML.

Every text is escaped for its format.
"""

import html
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from verified.benchmark.intervals import typical_correlation
from verified.io import text_tables
from verified.io.pages import fold, paragraphs, still_page, table, wide
from verified.tables.collect import Cell, Collection
from verified.tables.layout import Column, PaperTable, Row
from verified.tables.table import GAP, ONE_TRAINING, ONE_TRAINING_NOTE

MARK = "†"
"""Behind a value with a note, e.g. one from a part of the data set only."""
BOLD = "font-weight: bold;"


@dataclass(frozen=True)
class Sheet:
    """Displayed cells of a table."""

    key: str
    title: str
    header: list[str]
    texts: list[list[str]]
    """Rows of texts as people read them."""
    labels: int
    """Leading columns that name the row; they are left-aligned."""
    bold: list[list[bool]] | None = None
    hints: list[list[str]] | None = None
    """Tooltip of a cell, in HTML."""
    short: list[list[str]] | None = None
    """The texts for narrow formats (LaTeX), if they differ."""

    @property
    def groups(self) -> list[int]:
        """Rows before which a new block of the first column begins, but for the first."""
        return [n for n in range(1, len(self.texts)) if self.texts[n][0] != self.texts[n - 1][0]]


def markdown(sheet: Sheet, notes: Iterable[str]) -> str:
    """GitHub Markdown. Not tabulate's: it pads each column to its widest cell and escapes no bars."""
    out = [f"# {one_line(sheet.key)}: {one_line(sheet.title)}", "", markdown_row(sheet.header)]
    out.append("|" + "---|" * len(sheet.header))
    for row, texts in enumerate(sheet.texts):
        bold = sheet.bold[row] if sheet.bold else [False] * len(texts)
        out.append(markdown_row(f"**{text}**" if best else text for text, best in zip(texts, bold)))
    return "\n".join([*out, "", *(f"{one_line(note)}  " for note in notes)]) + "\n"


def markdown_row(texts: Iterable[str]) -> str:
    """One line of a Markdown table; bars are escaped, line ends become spaces."""
    return "| " + " | ".join(one_line(text).replace("|", "\\|") for text in texts) + " |"


def one_line(text: str) -> str:
    """The text with every run of white space, line ends among it, as one space."""
    return " ".join(text.split())


def plain_text(sheet: Sheet) -> str:
    """The title and the table without intervals, aligned for a terminal."""
    texts = [[one_line(text) for text in row] for row in [sheet.header, *(sheet.short or sheet.texts)]]
    numbers = [n for n, column in enumerate(zip(*texts[1:])) if all(text[:1] in f"{GAP}-0123456789" for text in column)]
    return f"{one_line(sheet.title)}\n\n{text_tables.align(texts, numbers)}\n"


def latex(sheet: Sheet, notes: Iterable[str]) -> str:
    """A booktabs tabular with the notes as comments; a rule between blocks."""
    texts = [[one_line(text) for text in row] for row in sheet.short or sheet.texts]
    alignment = "l" * sheet.labels + "r" * (len(sheet.header) - sheet.labels)
    styler = pd.DataFrame(texts, columns=list(map(one_line, sheet.header)), dtype=str).style.hide(axis="index")
    if sheet.bold:
        weights = [[BOLD if best else "" for best in row] for row in sheet.bold]
        styler.apply(lambda _: np.array(weights), axis=None)
    styler.format(_latex_cell, escape="latex").format_index(_latex_cell, escape="latex", axis="columns")
    lines = styler.to_latex(hrules=True, convert_css=True, column_format=alignment).splitlines()
    body = lines.index(r"\midrule") + 1
    for row in reversed(sheet.groups):
        lines.insert(body + row, r"\midrule")
    return "\n".join([*(f"% {one_line(note)}" for note in notes), *lines]) + "\n"


def _latex_cell(escaped: object) -> str:
    """An escaped text with its signs in TeX notation; a bracket after a line end would be parsed as a length."""
    text = str(escaped)
    for sign, command in ((MARK, r"$^\dagger$"), (ONE_TRAINING, "$^1$"), ("±", r"$\pm$"), ("–", "--")):
        text = text.replace(sign, command)
    return f"{{[}}{text[1:]}" if text.startswith("[") else text


def html_page(sheet: Sheet, notes: Iterable[str], provenance: Iterable[str] = ()) -> str:
    """A complete page with one table, its notes below, and its provenance folded under them."""
    heading = html.escape(f"{sheet.key}: {sheet.title}")
    shown = wide(table(sheet.header, sheet.texts, "", sheet.bold, sheet.hints), sheet.title)
    below = paragraphs(one_line(note) for note in notes)
    below += fold("Provenance", paragraphs(map(one_line, provenance)))
    body = f'<h1>{heading}</h1>\n{shown}<div class="below">{below}</div>\n'
    return still_page(sheet.title, body, "body > main { max-width: none; }")


def csv_text(frame: pd.DataFrame) -> str:
    """CSV of the values; missing ones are empty cells."""
    cells = [["" if value is None or value != value else value for value in row] for row in frame.to_numpy(object)]
    return text_tables.csv_text([list(frame.columns), *cells])


@dataclass
class Block:
    """One data set's part of a table."""

    name: str
    """Its key in the configuration."""
    title: str
    rows: tuple[Row, ...]
    cells: dict[tuple[Row, Column], Cell]


def number(cell: Cell, digits: int, interval: bool = True) -> str:
    """``12.34 [11.00, 13.70]``; a gap is an en dash, a value with a note ends in a dagger, the interval of a single
    training in a raised one.

    With `interval`, the paper's figure and the difference follow where the data set is the paper's.
    """
    if cell.value is None:
        return GAP if cell.published is None or not interval else f"{GAP} (paper {cell.published:.{digits}f})"
    text = f"{cell.value:.{digits}f}"
    if cell.spread is not None:
        text += f" ±{cell.spread:.{digits}f}"
    if interval and cell.low is not None:
        text += f" [{cell.low:.{digits}f}, {cell.high:.{digits}f}]{ONE_TRAINING * (cell.trainings == 1)}"
    text = f"{text}{MARK}" if cell.note else text
    if interval and cell.published is not None:
        text += f" (paper {cell.published:.{digits}f}, {cell.value - cell.published:+.{digits}f})"
    return text


def remarks(blocks: list[Block]) -> list[str]:
    """The reasons behind gaps and marked values, each once, with the data set's title."""
    notes = {}
    for block in blocks:
        for cell in block.cells.values():
            if cell.value is None or cell.note:
                notes.setdefault(f"{GAP if cell.value is None else MARK} {block.title}: {cell.note}.", None)
    return list(notes)


def headings(table: PaperTable) -> list[str]:
    """Column headings in one line, groups included."""
    return ["Data set", *table.stubs, *(f"{c.group} {c.heading}".strip() for c in table.columns)]


def sheet(table: PaperTable, blocks: list[Block]) -> Sheet:
    """The table's texts, with intervals and without."""
    lines = [_line(table, block, row) for block in blocks for row in block.rows]
    labels = len(table.stubs) + 1
    stubs = [[block.title, *row.label] for block in blocks for row in block.rows]

    def texts(interval: bool) -> list[list[str]]:
        numbers = [[number(cell, c.digits, interval) for cell, c in zip(cells, table.columns)] for cells in lines]
        return [label + row for label, row in zip(stubs, numbers)]

    return Sheet(
        table.key,
        f"{table.title} (one training of each model)" if trained_once(blocks) else table.title,
        headings(table),
        texts(True),
        labels,
        bold=[[False] * labels + [cell.best for cell in cells] for cells in lines],
        hints=[[""] * labels + [_hint(cell) for cell in cells] for cells in lines],
        short=texts(False),
    )


def _hint(cell: Cell) -> str:
    return cell.note or (ONE_TRAINING_NOTE if cell.trainings == 1 and cell.low is not None else "")


def values(table: PaperTable, blocks: list[Block]) -> pd.DataFrame:
    """The table in its arrangement, rounded values alone; a gap is an en dash."""
    rows = []
    for block in blocks:
        for row in block.rows:
            cells = zip(_line(table, block, row), table.columns)
            rounded = [GAP if cell.value is None else round(cell.value, column.digits) for cell, column in cells]
            rows.append([block.title, *row.label, *rounded])
    return pd.DataFrame(rows, columns=headings(table), dtype=object)


def _line(table: PaperTable, block: Block, row: Row) -> list[Cell]:
    return [block.cells[row, column] for column in table.columns]


def explanation(table: PaperTable, blocks: list[Block], collection: Collection) -> list[str]:
    """Legend of brackets, bold and resampled units, for a table with intervals."""
    if all(cell.low is None for block in blocks for cell in block.cells.values()):
        return []
    if any(column.task == "user-study" for column in table.columns):
        return ["In brackets: 95 % interval over captions."]
    brackets = "In brackets: 95 % interval over test videos, drawn with all of their queries"
    if trained_once(blocks):
        shown = f"{brackets}, alone: the noise of training is not in it, so no row is called better."
    else:
        shown = (
            f"{brackets}, and over trainings (±: their standard deviation); bold: better than every other row tested on"
            " the same captions, all of several trainings or of none (paired over the same, p < 0.05)."
        )
    return [
        shown,
        *trainings(blocks),
        *(line for block in blocks for line in units(block, collection)),
    ]


def trained_once(blocks: list[Block]) -> bool:
    """Whether every trained model of a table was trained once."""
    counts = {cell.trainings for block in blocks for cell in block.cells.values() if cell.value is not None}
    return counts - {None} == {1}


def units(block: Block, collection: Collection) -> list[str]:
    """Note on a block's numbers of queries and videos, and on the intra-class correlation of queries."""
    cells = [key for key, cell in block.cells.items() if cell.low is not None]
    measured = [collection.units(row, block.name, column) for row, column in cells]
    if not measured:
        return []
    sizes = " or ".join(dict.fromkeys(f"{queries} queries in {videos} videos" for queries, videos, _ in measured))
    correlation_text = typical_correlation(correlation for _, _, correlation in measured)
    return [f"{block.title}: {sizes}; intra-class correlation of queries of one video {correlation_text}."]


def trainings(blocks: list[Block]) -> list[str]:
    """Note on the trainings of each method, and on the interval of a single one."""
    methods: dict[int, dict[str, None]] = {}
    for block in blocks:
        for (row, _), cell in block.cells.items():
            if cell.value is not None and row.method and cell.trainings is not None:
                methods.setdefault(cell.trainings, {})[row.method] = None
    lines = [f"{', '.join(names)}: {count} trainings." for count, names in sorted(methods.items()) if count > 1]
    single = methods.get(1)
    return [*lines, *([f"{ONE_TRAINING_NOTE} So for {', '.join(single)}."] if single else [])]
