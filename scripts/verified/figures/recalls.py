"""Main tables 4 to 7 as pictures: a dot per cell with its 95 % interval, hollow where there is one training."""

import csv
import os
from collections.abc import Iterable
from itertools import cycle

from verified.errors import InputError
from verified.figures.canvas import SERIES, drawing
from verified.io.palette import colour_of

ONE = " (one training: videos only)"


def read_cells(path: str | os.PathLike) -> list[dict]:
    """Rows of the tidy frame `all.csv`."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def draw_recalls(cells: list[dict], table: str, title: str, paths: Iterable[str | os.PathLike]) -> None:
    """Draw the cells of `table` that belong to the data set `title`; gaps are left out.

    Raises InputError where it has none: which tables have values follows from the configuration.
    """
    shown = [row for row in cells if row["table"] == table and row["dataset"] == title and row["value"]]
    if not shown:
        raise InputError(f"table {table} has no values for {title}", remedy="build the tables again")
    tasks = list(dict.fromkeys(row["task"] for row in shown))
    by_method = table in ("main-4", "main-5")
    names = list(dict.fromkeys(row["method"] if by_method else row["train"] for row in shown))
    metrics = {task: list(dict.fromkeys(row["metric"] for row in shown if row["task"] == task)) for task in tasks}
    height = sum(0.2 + 0.34 * len(names_of_task) for names_of_task in metrics.values())
    with drawing(paths, 6.4, max(1.6, height + 0.9)) as figure:
        axes = figure.subplots(len(tasks), 1, squeeze=False, height_ratios=[len(metrics[task]) for task in tasks])[:, 0]
        for axis, task in zip(axes, tasks):
            for number, (name, (_, marker, _)) in enumerate(zip(names, cycle(SERIES))):
                colour = colour_of(name)
                shift = (number - (len(names) - 1) / 2) * 0.7 / max(len(names), 2)
                rows = [row for row in shown if row["task"] == task and row["method" if by_method else "train"] == name]
                at = [metrics[task].index(row["metric"]) + shift for row in rows]
                values = [float(row["value"]) for row in rows]
                spread = [
                    [value - float(row["low"] or value) for value, row in zip(values, rows)],
                    [float(row["high"] or value) - value for value, row in zip(values, rows)],
                ]
                spread = [[max(0.0, width) for width in side] for side in spread]
                single = any(row.get("trainings") == "1" for row in rows)
                axis.errorbar(
                    values,
                    at,
                    xerr=spread,
                    fmt=marker,
                    color=colour,
                    markersize=5,
                    markerfacecolor="white" if single else colour,
                    capsize=2,
                    label=f"{name}{ONE if single else ''}",
                )
            axis.set_yticks(range(len(metrics[task])), metrics[task])
            axis.set_ylim(len(metrics[task]) - 0.4, -0.6)
            axis.set_ylabel(task)
            axis.set_xlim(0, 100)
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
        axes[-1].set_xlabel("percent, with 95 % interval")
        axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=8)
