"""Build parts of pages as markup, with all texts escaped."""

import html
import math
import re
from collections.abc import Iterable, Sequence

FIGURE = re.compile(
    r"(?P<value>[-+−]?\d[\d,.]*(?: %)?|–)(?P<give> ±[\d.]+)?(?P<between> \[[^\]]*\])?(?P<marks>[¹†]*)"
    r"(?P<paper> \(paper [^)]*\))?"
)
"""A number in a table: its value, ± over trainings, interval, marks, and the paper's figure."""
NUMERIC = re.compile(r"[-+−]?\d|–$")


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    best: Sequence[Sequence[bool]] | None = None,
    hints: Sequence[Sequence[str]] | None = None,
    kind: str = "sheet",
) -> str:
    """A table element. Numbers are large at the right, with ± and interval small beside and below; `best` marks cells,
    `hints` are tooltips of cells. A table of the `kind` "sheet" can be sorted and copied."""
    texts = [[str(cell) for cell in row] for row in rows]
    columns = range(len(texts[0]) if texts else len(header))
    numeric = [bool(header and texts) and all(NUMERIC.match(row[n]) for row in texts if row[n]) for n in columns]
    out = [f'<table class="{kind}">', f"<caption>{html.escape(caption)}</caption>" if caption else ""]
    if header:
        heads = (
            f'<th scope="col"{" class=value" if number else ""}>{html.escape(text)}</th>'
            for text, number in zip(header, numeric)
        )
        out.append(f"<thead><tr>{''.join(heads)}</tr></thead>")
    out.append("<tbody>")
    for at, row in enumerate(texts):
        cells = (
            _cell(text, numeric[n], bool(best and best[at][n]), hints[at][n] if hints else "")
            for n, text in enumerate(row)
        )
        out.append(f"<tr>{''.join(cells)}</tr>")
    return "".join([*out, "</tbody></table>\n"])


def _cell(text: str, number: bool, best: bool, hint: str) -> str:
    found = FIGURE.fullmatch(text)
    kinds = " ".join(name for name, holds in (("value", number or found), ("best", best)) if holds)
    opening = (f' class="{kinds}"' if kinds else "") + (f' title="{html.escape(hint)}"' if hint else "")
    if not found:
        return f"<td{opening}>{html.escape(text)}</td>"
    parts = [html.escape(found["value"] + found["marks"])]
    if found["give"]:
        parts.append(f'<span class="give">{html.escape(found["give"])}</span>')
    below = [found[name] for name in ("between", "paper") if found[name]]
    parts += [f'<span class="between">{html.escape(text)}</span>' for text in below]
    return f"<td{opening}>{''.join(parts)}</td>"


def wide(table: str, label: str = "Table") -> str:
    """Wrap a table so that it scrolls sideways on a narrow screen, also by keyboard."""
    return f'<div class="wide" role="region" aria-label="{html.escape(label)}" tabindex="0">{table}</div>\n'


def thumb(url: str, about: str, told: str) -> str:
    """A picture from a data URL with a caption; `about` is its alternative text."""
    picture = f'<img src="{url}" alt="{html.escape(about)}">'
    return f'<figure class="thumb">{picture}<figcaption>{html.escape(told)}</figcaption></figure>'


def paragraphs(lines: Iterable[str]) -> str:
    """A paragraph for each line."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def fold(summary: str, body: str, kind: str = "") -> str:
    """A collapsed section that opens on demand; `body` is markup."""
    opening = f'<details class="{kind}">' if kind else "<details>"
    return f"{opening}<summary>{html.escape(summary)}</summary>{body}</details>\n" if body else ""


def clock(seconds: float) -> str:
    """62.5 seconds as ``1:02.5``, the format of all times on pages; infinity as ``∞``."""
    if not math.isfinite(seconds * 10):
        return "∞"
    tenths = round(seconds * 10)
    return f"{tenths // 600}:{tenths % 600 // 10:02d}.{tenths % 10}"
