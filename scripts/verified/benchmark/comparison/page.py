"""One HTML page of a comparison: tables, figure, and the queries in which two runs differ most, with keyframes."""

import html
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

from verified.benchmark.answers import Query
from verified.benchmark.comparison.compare import most_different
from verified.benchmark.comparison.runs import Run
from verified.io.files import write_text
from verified.tables.table import Table

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #8886; text-align: left; }
td.number { text-align: right; white-space: nowrap; }
img.figure { max-width: 100%; background: white; }
article { border-top: 1px solid #8886; padding: .6rem 0; } article img { height: 96px; margin-right: .3rem; }
p.note { font-size: 13px; opacity: .8; }
"""

Keyframes = Callable[[Any], list[list]]
"""From a query's id to ``[time in seconds, data URL]`` of each keyframe of its moment."""


def write_comparison(
    path: Path,
    tables: list[Table],
    figure: str | None,
    runs: list[Run],
    queries: list[Query],
    keyframes: Keyframes,
) -> None:
    """Write the page; `figure` is the name of the picture beside it, if any. Every text from a file is escaped."""
    title = "Comparison of " + ", ".join(run.name for run in runs)
    out = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{html.escape(title)}</h1>",
    ]
    out.append(_table(tables[0]))
    if figure:
        out.append("<h2>By groups of queries</h2>")
        out.append(f'<img class="figure" src="{html.escape(figure)}" alt="Differences by groups of queries">')
    out += [_table(table) for table in tables[1:]]
    for first, second in combinations(runs, 2):
        for ahead, behind, selected in zip((first, second), (second, first), most_different(first, second)):
            out.append(f"<h2>{html.escape(ahead.name)} right, {html.escape(behind.name)} not</h2>")
            if not selected:
                out.append("<p>No query.</p>")
            out += [_query(queries[query], query, (ahead, behind), keyframes) for query in selected]
    write_text(path, "\n".join([*out, "</body></html>\n"]))


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.header)
    body = ""
    for row, texts in zip(table.rows, table.texts()):
        cells = [(html.escape(text), "" if isinstance(value, str) else "number") for value, text in zip(row, texts)]
        body += "<tr>" + "".join(f'<td class="{kind}">{text}</td>' for text, kind in cells) + "</tr>"
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in table.notes)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{notes}'


def _query(query: Query, at: int, runs: tuple[Run, Run], keyframes: Keyframes) -> str:
    images = "".join(
        f'<img src="{url}" alt="keyframe at {time:g} s" title="{time:g} s">' for time, url in keyframes(query.id)
    )
    answers = "".join(f"<li>{_answer(run, query, at)}</li>" for run in runs)
    location = f"{query.video}, {query.start:g}–{query.end:g} s (query {query.id})"
    return (
        f"<article><p><strong>{html.escape(query.caption)}</strong><br>{html.escape(location)}</p>"
        f"<div>{images}</div><ul>{answers}</ul></article>"
    )


def _answer(run: Run, query: Query, at: int) -> str:
    ranks = [round(1 / value) if value else None for value in run.reciprocal[:, at]]
    told = ", ".join("not among 100" if rank is None else f"rank {rank}" for rank in ranks)
    first = run.first[at]
    text = "nothing" if first is None else f"{first[0]}, {first[1]:g}–{first[2]:g} s"
    if first is not None and first[0] != query.video:
        text += " (another video)"
    return html.escape(f"{run.name}: right span at {told}; first answer: {text}")
