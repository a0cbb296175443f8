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
from verified.io.pages import clock, data_url, paragraphs, still_page, table, thumb, wide
from verified.tables.table import Table

STYLE = """
img.figure { max-width: 100%; background: white; border-radius: 6px; }
h2 { margin: 1.6rem 0 .5rem; }
.thumb img { height: 96px; }
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
    """Write the page; `figure` is the name of the picture beside it, if any, which the page embeds. Every text from a
    file is escaped."""
    title = "Comparison of " + ", ".join(run.name for run in runs)
    out = [f"<h1>{html.escape(title)}</h1>"]
    out.append(_table(tables[0]))
    if figure:
        out.append("<h2>By groups of queries</h2>")
        kind = "image/svg+xml" if figure.endswith(".svg") else "image/png"
        picture = data_url(kind, (path.parent / figure).read_bytes())
        out.append(f'<img class="figure" src="{picture}" alt="Differences by groups of queries">')
    out += [_table(table) for table in tables[1:]]
    for first, second in combinations(runs, 2):
        for ahead, behind, selected in zip((first, second), (second, first), most_different(first, second)):
            out.append(f"<h2>{html.escape(ahead.name)} right, {html.escape(behind.name)} not</h2>")
            if not selected:
                out.append("<p>No query.</p>")
            out += [_query(queries[query], query, (ahead, behind), keyframes) for query in selected]
    write_text(path, still_page(title, "\n".join(out), STYLE))


def _table(shown: Table) -> str:
    below = f'<div class="below">{paragraphs(shown.notes)}</div>\n'
    return f"<h2>{html.escape(shown.title)}</h2>\n{wide(table(shown.header, shown.texts()), shown.title)}{below}"


def _query(query: Query, at: int, runs: tuple[Run, Run], keyframes: Keyframes) -> str:
    images = "".join(thumb(url, f"keyframe at {clock(time)}", clock(time)) for time, url in keyframes(query.id))
    answers = "".join(f"<li>{_answer(run, query, at)}</li>" for run in runs)
    location = f"{query.video}, {clock(query.start)}–{clock(query.end)} (query {query.id})"
    return (
        f'<article class="card"><h3 class="caption">{html.escape(query.caption)}</h3>'
        f'<p class="soft">{html.escape(location)}</p><div class="frames">{images}</div><ul>{answers}</ul></article>'
    )


def _answer(run: Run, query: Query, at: int) -> str:
    ranks = [round(1 / value) if value else None for value in run.reciprocal[:, at]]
    told = ", ".join("not among 100" if rank is None else f"rank {rank}" for rank in ranks)
    first = run.first[at]
    text = "nothing" if first is None else f"{first[0]}, {clock(first[1])}–{clock(first[2])}"
    if first is not None and first[0] != query.video:
        text += " (another video)"
    return html.escape(f"{run.name}: right span at {told}; first answer: {text}")
