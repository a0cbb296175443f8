"""One HTML page of a comparison: tables, figure, and the queries in which two runs differ most, with keyframes.

Its figure of differences by groups of queries is text and small drawings in the page's colours, for narrow windows too;
`draw_groups` draws the same for a paper.
"""

import html
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, cycle
from pathlib import Path
from typing import Any

from verified.benchmark.comparison.compare import furthest_ahead
from verified.benchmark.comparison.runs import Run
from verified.benchmark.submissions import Query
from verified.figures.canvas import LABEL, SERIES, WIDE, drawing, literal
from verified.figures.text import wrap
from verified.io.files import write_text
from verified.io.pages import clock, paragraphs, still_page, table, thumb, wide
from verified.tables.table import ONE_TRAINING, Estimate, Table

STYLE = """
.pair { display: grid; grid-template-columns: auto auto minmax(8rem, 1fr); gap: .1rem .8rem; align-items: center; }
.pair h4 { grid-column: 1 / -1; margin: .5rem 0 0; }
.pair .points { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.pair svg { display: block; width: 100%; height: 20px; }
.pair line, .pair circle { stroke: var(--dynamics); stroke-width: 2.5; fill: var(--dynamics); }
.pair .zero { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
.pair .single { fill: var(--paper); }
@media (max-width: 40rem) {
  .pair { grid-template-columns: 1fr auto; }
  .pair svg { grid-column: 1 / -1; }
}
h2 { margin: 1.6rem 0 .5rem; }
.thumb img { height: 96px; }
"""

Keyframes = Callable[[Any], Sequence[Sequence]]
"""From a query's id to ``[time in seconds, data URL]`` of each keyframe of its moment."""


def write_comparison(
    path: Path,
    tables: list[Table],
    groups: Table | None,
    runs: list[Run],
    queries: list[Query],
    keyframes: Keyframes,
) -> None:
    """Write the page; `groups` is the table by groups of queries, if any. Every text from a file is escaped."""
    title = "Comparison of " + ", ".join(run.name for run in runs)
    out = [f"<h1>{html.escape(title)}</h1>"]
    out.append(_table(tables[0]))
    if groups:
        out += [f"<h2>{html.escape(groups.title)}</h2>", *_pairs(groups)]
    out += [_table(table) for table in tables[1:]]
    for pair in combinations(runs, 2):
        for ahead, behind in (pair, pair[::-1]):
            selected = furthest_ahead(ahead, behind)
            out.append(f"<h2>{html.escape(ahead.name)} right, {html.escape(behind.name)} not</h2>")
            if not selected:
                out.append("<p>No query.</p>")
            out += [_query(queries[query], query, (ahead, behind), keyframes) for query in selected]
    write_text(path, still_page(title, "\n".join(out), STYLE))


def _pairs(groups: Table) -> Iterator[str]:
    """For each pair of runs a line per group: its name, the difference with its interval, and the numbers."""
    bounds = [end for row in groups.rows if (dot := _estimate(row[7])) for end in (dot.low, dot.high, dot.value, 0.0)]
    low, high = min(bounds), max(bounds)
    for pair in pairs_of(groups):
        rows = [row for row in groups.rows if row[:2] == pair]
        single = any(_estimate(row[7]).trainings == 1 for row in rows)
        mark = f" {ONE_TRAINING}" if single else ""
        yield f'<h3>{html.escape(f"{pair[0]} minus {pair[1]}")}{mark}</h3><div class="pair">'
        for by in dict.fromkeys(row[2] for row in rows):
            yield f"<h4>{html.escape(str(by))}</h4>"
            yield from (_group(row, low, high, single) for row in rows if row[2] == by)
        yield "</div>"
    left_out = len({row[:2] for row in groups.rows}) - len(pairs_of(groups))
    if left_out:
        yield f'<p class="soft">{left_out} further pairs are in the table below.</p>'


def _group(row: Sequence[Any], low: float, high: float, single: bool) -> str:
    dot = _estimate(row[7])

    def at(points: float) -> str:
        return f"{2 + 96 * (points - low) / max(high - low, 1e-9):.2f}%"

    drawn = (
        f'<svg aria-hidden="true"><line class="zero" x1="{at(0)}" x2="{at(0)}" y1="0" y2="20"/>'
        f'<line x1="{at(dot.low)}" x2="{at(dot.high)}" y1="10" y2="10"/>'
        f'<circle class="{"single" if single else "several"}" cx="{at(dot.value)}" cy="10" r="5"/></svg>'
    )
    points = f"{dot.value:+.1f} [{dot.low:.1f}, {dot.high:.1f}]"
    return f'<span>{html.escape(str(row[3]))} ({row[4]})</span><span class="points">{points}</span>{drawn}'


def pairs_of(groups: Table) -> list[tuple]:
    """The first `PAIRS` pairs of runs of a table of `compare.groups_table`."""
    return list(dict.fromkeys((row[0], row[1]) for row in groups.rows))[:PAIRS]


def _table(sheet: Table) -> str:
    below = f'<div class="below">{paragraphs(sheet.notes)}</div>\n'
    return f"<h2>{html.escape(sheet.title)}</h2>\n{wide(table(sheet.header, sheet.texts()), sheet.title)}{below}"


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
    listed = ", ".join("not among 100" if rank is None else f"rank {rank}" for rank in ranks)
    first = run.first[at]
    text = "nothing" if first is None else f"{first[0]}, {clock(first[1])}–{clock(first[2])}"
    if first is not None and first[0] != query.video:
        text += " (another video)"
    return html.escape(f"{run.name}: right span at {listed}; first answer: {text}")


PAIRS = 6
"""Most pairs of runs that are drawn; the table has the rest."""


def draw_groups(table: Table, paths: Iterable[str | os.PathLike]) -> None:
    """Draw the first `PAIRS` pairs of a table of `compare.groups_table`."""
    pairs = pairs_of(table)
    groups = list(dict.fromkeys((row[2], row[3]) for row in table.rows))
    height = 1.0 + 0.35 * len(pairs) + (0.4 + 0.12 * len(pairs)) * len(groups)
    with drawing(paths, WIDE, height) as figure:
        axis = figure.subplots()
        for number, (pair, (colour, marker, _)) in enumerate(zip(pairs, cycle(SERIES))):
            rows = [row for row in table.rows if (row[0], row[1]) == pair]
            shift = (number - (len(pairs) - 1) / 2) * 0.7 / max(len(pairs), 2)
            at = [groups.index((row[2], row[3])) + shift for row in rows]
            points = [_estimate(row[7]) for row in rows]
            single = any(point.trainings == 1 for point in points)
            spread = [
                [max(0.0, point.value - point.low) for point in points],
                [max(0.0, point.high - point.value) for point in points],
            ]
            name = "\n".join(
                wrap(literal(f"{pair[0]} minus {pair[1]}{ONE_TRAINING if single else ''}"), WIDE - 2, LABEL)
            )
            values = [point.value for point in points]
            axis.errorbar(
                values,
                at,
                xerr=spread,
                fmt=marker,
                color=colour,
                capsize=4,
                label=name,
                markerfacecolor="white" if single else colour,
            )
        estimates = [(row[:4], _estimate(row[7])) for row in table.rows if (row[0], row[1]) in pairs]
        labelled = [(*row, dot.value, dot.low, dot.high) for row, dot in estimates]
        text = "; ".join(
            f"{first} minus {second}, {by} {label}: {value:.1f}" for first, second, by, label, value, *_ in labelled
        )
        figure.describe(
            f"Differences in points. {text}", ("First", "Second", "By", "Group", "Points", "Low", "High"), labelled
        )
        axis.axvline(0, color="#5a5a5a", linewidth=1.2)
        axis.set_yticks(range(len(groups)), [literal(f"{by}: {label}") for by, label in groups])
        axis.set_ylim(len(groups) - 0.4, -0.6)
        axis.grid(axis="x", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_xlabel("points, with 95 % interval")
        figure.legend(loc="outside upper left")


def _estimate(points: Any) -> Estimate:
    """An estimate, or a number without an interval as one of no width."""
    return points if isinstance(points, Estimate) else Estimate(points, points, points)
