"""The differences between runs by groups of queries, as a picture: a dot and its interval for each pair and group."""

import os
from collections.abc import Iterable
from itertools import cycle
from typing import Any

from verified.figures.canvas import SERIES, WIDE, drawing, literal
from verified.tables.table import Estimate, Table

PAIRS = 6
"""Most pairs of runs that are drawn; the table has the rest."""
ONE = " (a single training: videos only)"


def draw_groups(table: Table, paths: Iterable[str | os.PathLike]) -> None:
    """Draw the first `PAIRS` pairs of a table of `compare.groups_table`."""
    pairs = list(dict.fromkeys((row[0], row[1]) for row in table.rows))[:PAIRS]
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
            name = literal(f"{pair[0]} minus {pair[1]}{ONE if single else ''}")
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
        told = [(*row, one.value, one.low, one.high) for row, one in estimates]
        said = "; ".join(
            f"{first} minus {second}, {by} {label}: {value:.1f}" for first, second, by, label, value, *_ in told
        )
        figure.describe(
            f"Differences in points. {said}", ("First", "Second", "By", "Group", "Points", "Low", "High"), told
        )
        axis.axvline(0, color="#5a5a5a", linewidth=1.2)
        axis.set_yticks(range(len(groups)), [literal(f"{by}: {label}") for by, label in groups])
        axis.set_ylim(len(groups) - 0.4, -0.6)
        axis.grid(axis="x", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_xlabel("points of the first minus the second, with 95 % interval")
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1.0))


def _estimate(points: Any) -> Estimate:
    """An estimate, or a number without an interval as one of no width."""
    return points if isinstance(points, Estimate) else Estimate(points, points, points)
