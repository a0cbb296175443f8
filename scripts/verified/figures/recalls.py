"""Main tables 4 to 7 as pictures: a dot per cell with its 95 % interval, hollow if there is one training."""

import csv
import os
from collections.abc import Iterable
from itertools import cycle

from verified.errors import InputError
from verified.figures.canvas import LABEL, SERIES, WIDE, drawing, literal
from verified.figures.text import line_height
from verified.io.pages import colour_of

LANE, GAP = 0.17, 0.22
"""Inches from one row of a metric to the next, and between metrics; rows of the first metric have room for names."""


def read_cells(path: str | os.PathLike) -> list[dict]:
    """Rows of the tidy frame `all.csv`."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def draw_recalls(cells: list[dict], table: str, title: str, paths: Iterable[str | os.PathLike]) -> None:
    """Draw the cells of `table` that belong to the data set `title`; gaps are omitted.

    Raises InputError without any value: the configuration decides which tables have values.
    """
    shown = [row for row in cells if row["table"] == table and row["dataset"] == title and row["value"]]
    if not shown:
        raise InputError(f"table {table} has no values for {title}", remedy="build the tables again")
    by = "method" if table in ("main-4", "main-5") else "train"
    names = list(dict.fromkeys(row[by] for row in shown))
    tasks = list(dict.fromkeys(row["task"] for row in shown))
    metrics = {task: list(dict.fromkeys(row["metric"] for row in shown if row["task"] == task)) for task in tasks}
    places, heights = _places(tasks, metrics, len(names))
    single = any(row.get("trainings") == "1" for row in shown)
    with drawing(paths, WIDE, sum(heights.values()) + 0.3 * len(tasks) + 1.0) as figure:
        entries = [(row["task"], row["metric"], row[by], row["value"], row["low"], row["high"]) for row in shown]
        text = "; ".join(f"{task} {metric}, {name} {value}" for task, metric, name, value, *_ in entries)
        figure.describe(
            f"{table}, percent. {text}", ("Task", "Metric", by.capitalize(), "Value", "Low", "High"), entries
        )
        ratios = [heights[task] for task in tasks]
        axes = dict(zip(tasks, figure.subplots(len(tasks), 1, squeeze=False, height_ratios=ratios, sharex=True)[:, 0]))
        for row in shown:
            task, name, value = row["task"], row[by], float(row["value"])
            number, one = names.index(name), row.get("trainings") == "1"
            first, step = places[task, row["metric"]]
            colour, at = colour_of(name), first + number * step
            sides = [max(0.0, value - float(row["low"] or value)), max(0.0, float(row["high"] or value) - value)]
            marker = next(look[1] for place, look in enumerate(cycle(SERIES)) if place == number)
            axes[task].errorbar(
                [value],
                [at],
                xerr=[[sides[0]], [sides[1]]],
                fmt=marker,
                color=colour,
                markerfacecolor="white" if one else colour,
                capsize=3,
            )
            if step > LANE or (task, row["metric"]) == (tasks[0], metrics[tasks[0]][0]):
                left = value - sides[0] > 100 - value - sides[1]
                axes[task].annotate(
                    literal(name) + ("¹" if one else ""),
                    (value - sides[0] if left else value + sides[1], at),
                    xytext=(-8 if left else 8, 0),
                    textcoords="offset points",
                    ha="right" if left else "left",
                    va="center",
                    color=colour,
                )
        for task, axis in axes.items():
            middles = [
                first + step * (len(names) - 1) / 2 for first, step in (places[task, one] for one in metrics[task])
            ]
            axis.set_yticks(middles, metrics[task])
            axis.set_ylim(heights[task], 0)
            axis.set_ylabel(task)
            axis.set_xlim(0, 100)
            axis.grid(axis="x", color="#dddddd", linewidth=1.0)
            axis.set_axisbelow(True)
        axes[tasks[-1]].set_xlabel(
            "percent, with 95 % interval" + (" (¹ one training: of videos alone)" if single else "")
        )


def _places(
    tasks: list[str], metrics: dict[str, list[str]], count: int
) -> tuple[dict[tuple[str, str], tuple[float, float]], dict[str, float]]:
    """Position of the first row of each metric and the step to the next one, in inches from the top of a task; and the
    height of each task."""
    places, heights = {}, {}
    for task in tasks:
        down = GAP
        for metric in metrics[task]:
            step = LANE if places else max(LANE, line_height(LABEL))
            places[task, metric] = (down + step / 2, step)
            down += step * count + GAP
        heights[task] = down
    return places, heights
