"""A table as Markdown, LaTeX (booktabs), HTML and CSV; every text is escaped for where it goes."""

import csv
import html
import io
from collections.abc import Iterable
from dataclasses import dataclass

from verified.tables.collect import Cell
from verified.tables.layout import Column, Row, Table

GAP = "–"
MARK = "†"  # a value with a note, e.g. from a part of the data set only
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "±": r"$\pm$",
    MARK: r"$^\dagger$",
}  # fmt: skip

_STYLE = (
    "body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem; } table { border-collapse: collapse; } "
    "caption { text-align: left; font-weight: 600; padding-bottom: .4rem; } "
    "th, td { padding: .2rem .6rem; border-bottom: 1px solid #d0d0d0; text-align: right; } "
    "th { font-weight: 600; } tbody th { text-align: left; font-weight: 400; white-space: nowrap; } "
    "p { color: #444; font-size: 13px; }"
)


@dataclass
class Block:
    """One data set's part of a table."""

    title: str
    rows: tuple[Row, ...]
    cells: dict[tuple[Row, Column], Cell]


def number(cell: Cell, digits: int, interval: bool = True) -> str:
    """``12.34 [11.00, 13.70]``; a gap is an en dash, a value with a note ends in a dagger.

    With `interval`, the paper's figure and the difference follow where the data set is the paper's.
    """
    if cell.value is None:
        return GAP if cell.printed is None or not interval else f"{GAP} (paper {cell.printed:.{digits}f})"
    text = f"{cell.value:.{digits}f}"
    if cell.spread is not None:
        text += f" ±{cell.spread:.{digits}f}"
    if interval and cell.low is not None:
        text += f" [{cell.low:.{digits}f}, {cell.high:.{digits}f}]"
    text = f"{text}{MARK}" if cell.note else text
    if interval and cell.printed is not None:
        text += f" (paper {cell.printed:.{digits}f}, {cell.value - cell.printed:+.{digits}f})"
    return text


def remarks(blocks: list[Block]) -> list[str]:
    """The reasons behind gaps and marked values, each once, with the data set's title."""
    notes = {}
    for block in blocks:
        for cell in block.cells.values():
            if cell.value is None or cell.note:
                notes.setdefault(f"{GAP if cell.value is None else MARK} {block.title}: {cell.note}", None)
    return list(notes)


def headings(table: Table) -> list[str]:
    """Column headings in one line, groups included."""
    return ["Data set", *table.stubs, *(f"{c.group} {c.heading}".strip() for c in table.columns)]


def _lines(table: Table, blocks: list[Block], interval: bool) -> list[tuple[list[str], list[bool]]]:
    lines = []
    for block in blocks:
        for row in block.rows:
            cells = [block.cells[row, column] for column in table.columns]
            texts = [number(cell, column.digits, interval) for cell, column in zip(cells, table.columns)]
            stubs = [block.title, *row.label]
            lines.append((stubs + texts, [False] * len(stubs) + [cell.best for cell in cells]))
    return lines


def markdown(table: Table, blocks: list[Block], provenance: list[str]) -> str:
    """GitHub Markdown: bold marks the significantly best row of a block."""
    head = headings(table)
    out = [f"# {table.key}: {table.title}", "", markdown_row(head), "|" + "---|" * len(head)]
    for texts, bold in _lines(table, blocks, interval=True):
        out.append(markdown_row(f"**{text}**" if best else text for text, best in zip(texts, bold)))
    out.append("")
    out += [f"{note}.  " for note in remarks(blocks)]
    if table_has_intervals(blocks):
        out.append(f"{explanation(table)}  ")
    out += [f"{line}  " for line in provenance]
    return "\n".join(out) + "\n"


def explanation(table: Table) -> str:
    """What brackets and bold mean in a table."""
    if any(column.task == "user-study" for column in table.columns):
        return "In brackets: 95 % bootstrap interval over captions."
    return (
        "In brackets: 95 % bootstrap interval over queries; bold: better than every other row tested on the same "
        "captions (paired bootstrap, p < 0.05)."
    )


def table_has_intervals(blocks: list[Block]) -> bool:
    """Whether any cell carries an interval."""
    return any(cell.low is not None for block in blocks for cell in block.cells.values())


def markdown_row(texts: Iterable[str]) -> str:
    """One line of a Markdown table; bars in texts are escaped."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def latex_text(text: str) -> str:
    """Any text as LaTeX text."""
    return "".join(_LATEX.get(character, character) for character in text)


def latex(table: Table, blocks: list[Block], provenance: list[str]) -> str:
    """A booktabs tabular with its provenance as comments; intervals are left to the other forms for width."""
    stubs = len(table.stubs) + 1
    head = headings(table)
    out = [f"% {line}" for line in provenance]
    out += [r"\begin{tabular}{" + "l" * stubs + "r" * len(table.columns) + "}", r"\toprule"]
    out.append(" & ".join(map(latex_text, head)) + r" \\")
    for block in blocks:
        out.append(r"\midrule")
        for texts, bold in _lines(table, [block], interval=False):
            out.append(" & ".join(rf"\textbf{{{latex_text(t)}}}" if b else latex_text(t) for t, b in zip(texts, bold))
                       + r" \\")  # fmt: skip
    out += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(out) + "\n"


def html_table(table: Table, blocks: list[Block], provenance: list[str]) -> str:
    """A table element with a caption; gaps carry their reason as a title."""
    out = ["<table>", f"<caption>{html.escape(f'{table.key}: {table.title}')}</caption>", "<thead><tr>"]
    out += [f'<th scope="col">{html.escape(text)}</th>' for text in headings(table)]
    out.append("</tr></thead><tbody>")
    for block in blocks:
        for row in block.rows:
            out.append("<tr>" + "".join(f'<th scope="row">{html.escape(t)}</th>' for t in (block.title, *row.label)))
            for column in table.columns:
                cell = block.cells[row, column]
                text = html.escape(number(cell, column.digits))
                title = f' title="{html.escape(cell.note)}"' if cell.note else ""
                out.append(f"<td{title}>{f'<strong>{text}</strong>' if cell.best else text}</td>")
            out.append("</tr>")
    out.append("</tbody></table>")
    notes = [*remarks(blocks), *([explanation(table)] if table_has_intervals(blocks) else []), *provenance]
    out.append("<p>" + "<br>".join(map(html.escape, notes)) + "</p>")
    return "\n".join(out) + "\n"


def html_page(table: Table, blocks: list[Block], provenance: list[str]) -> str:
    """A complete page with one table."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(table.title)}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n{html_table(table, blocks, provenance)}</body></html>\n"
    )


def csv_text(header: list[str], rows: list[list], provenance: list[str]) -> str:
    """CSV with the provenance as comment lines; texts that a spreadsheet would run as formulas are quoted away."""
    out = io.StringIO()
    for line in provenance:
        out.write(f"# {line}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_inert(value) for value in row] for row in rows])
    return out.getvalue()


def _inert(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str):
        value = value.replace("\r", " ")  # which the csv module does not quote
        return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t") else value
    return value


def csv_table(table: Table, blocks: list[Block], provenance: list[str]) -> str:
    """The table in its arrangement, values alone; gaps are explained in the comment lines."""
    rows = []
    for block in blocks:
        for row in block.rows:
            cells = [block.cells[row, column] for column in table.columns]
            rounded = [GAP if c.value is None else round(c.value, k.digits) for c, k in zip(cells, table.columns)]
            rows.append([block.title, *row.label, *rounded])
    notes = remarks(blocks)
    return csv_text(headings(table), rows, [*provenance, *notes])
