"""A table of texts as Markdown, CSV, LaTeX (booktabs) and HTML; every text is escaped for where it goes."""

import html
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from verified.io import text_tables
from verified.io.pages import fold, paragraphs, still_page, table, wide
from verified.tables.table import ONE_TRAINING

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
    """Leading columns that name the row; they are set to the left."""
    bold: list[list[bool]] | None = None
    hints: list[list[str]] | None = None
    """Tooltip of a cell, in HTML."""
    short: list[list[str]] | None = None
    """The texts where width is scarce (LaTeX), if they differ."""

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


def latex(sheet: Sheet, notes: Iterable[str]) -> str:
    """A booktabs tabular with the notes as comments; a rule between blocks."""
    texts = [[one_line(text) for text in row] for row in sheet.short or sheet.texts]
    alignment = "l" * sheet.labels + "r" * (len(sheet.header) - sheet.labels)
    styler = _styler(sheet, texts).format(_latex_cell, escape="latex")
    styler.format_index(_latex_cell, escape="latex", axis="columns")
    lines = styler.to_latex(hrules=True, convert_css=True, column_format=alignment).splitlines()
    body = lines.index(r"\midrule") + 1
    for row in reversed(sheet.groups):
        lines.insert(body + row, r"\midrule")
    return "\n".join([*(f"% {one_line(note)}" for note in notes), *lines]) + "\n"


def _latex_cell(escaped: object) -> str:
    """An escaped text with its signs in TeX's own writing; a bracket after a line end would be taken for a length."""
    text = str(escaped)
    for sign, command in ((MARK, r"$^\dagger$"), (ONE_TRAINING, "$^1$"), ("±", r"$\pm$"), ("–", "--")):
        text = text.replace(sign, command)
    return f"{{[}}{text[1:]}" if text.startswith("[") else text


def html_page(sheet: Sheet, notes: Iterable[str], provenance: Iterable[str] = ()) -> str:
    """A complete page with one table, what is to be known of it below, and its provenance folded under that."""
    title = f"{sheet.key}: {sheet.title}"
    body = f"<h1>{html.escape(title)}</h1>\n{html_part(sheet, notes, provenance)}"
    return still_page(sheet.title, body, "body > main { max-width: none; }")


def html_part(sheet: Sheet, notes: Iterable[str], provenance: Iterable[str] = ()) -> str:
    """The same without its heading, as a part of a page."""
    shown = wide(table(sheet.header, sheet.texts, "", sheet.bold, sheet.hints), sheet.title)
    below = paragraphs(one_line(note) for note in notes)
    return f'{shown}<div class="below">{below}{fold("Provenance", paragraphs(map(one_line, provenance)))}</div>\n'


def _styler(sheet: Sheet, texts: list[list[str]]):
    frame = pd.DataFrame(texts, columns=list(map(one_line, sheet.header)), dtype=str)
    styler = frame.style.hide(axis="index")
    if sheet.bold:
        weights = [[BOLD if best else "" for best in row] for row in sheet.bold]
        styler.apply(lambda _: np.array(weights), axis=None)
    return styler


def csv_text(frame: pd.DataFrame, notes: Iterable[str]) -> str:
    """CSV with the notes as comment lines; missing values are empty cells."""
    comments = "".join(f"# {one_line(note)}\n" for note in notes)
    cells = [["" if value is None or value != value else value for value in row] for row in frame.to_numpy(object)]
    return comments + text_tables.csv_text([list(frame.columns), *cells])
