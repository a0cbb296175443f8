"""The figures that README shows of a run: made from all.csv, and checked against it."""

import csv
import os
import re
from collections.abc import Iterable, Mapping

from verified.tables.forms import markdown_row
from verified.tables.simple import GAP

TABLE = "main-4"
COLUMNS = tuple(("VCMR", metric) for metric in ("0.5/r1", "0.5/r10", "0.5/r100", "0.7/r1", "0.7/r10")) + tuple(
    ("VR", metric) for metric in ("r1", "r10", "r100")
)
HEADER = ("Method", *(f"{task} {metric}" for task, metric in COLUMNS))
NUMBER = re.compile(rf"{GAP}|(\d+\.\d\d)(?: ±(\d+\.\d\d))?")
"""What a cell may hold: a gap, or percent with the standard deviation over trainings where there are several."""
GAINS = tuple(
    f"XML trained on {fine}; XML trained on {base}; {metric}"
    for fine, base in (("FIG", "COG"), ("FIG-highest", "FIG-lowest"))
    for metric in ("VCMR 0.5/r5", "VR r1")
)
TRAININGS, QUANTILE = 3, 4.303
"""Trainings behind a README's mean and standard deviation, as `make demo-full` runs them, and the 97.5 % point of
Student's t with one degree of freedom less."""
ATTRIBUTES = "faithful captions: "
"""Checks of single attributes, which a README leaves to the table."""

Cells = Mapping[tuple[str, str, str], Mapping[str, str]]


def read_rows(path: str | os.PathLike) -> list[dict]:
    """Rows of the tidy frame all.csv. Raises OSError where there is none."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def _cells(rows: Iterable[Mapping[str, str]]) -> Cells:
    return {(row["method"], row["task"], row["metric"]): row for row in rows if row["table"] == TABLE}


def readme_figures(rows: list[dict]) -> str:
    """Markdown: the main table shortened, then a line per gain and per check against the truth, with intervals."""
    cells = _cells(rows)
    out = [markdown_row(HEADER), "|" + "---|" * len(HEADER)]
    for method in dict.fromkeys(method for method, _, _ in cells):
        out.append(markdown_row([method, *(_shown(cells[method, *column]) for column in COLUMNS)]))
    out.append("")
    for row in rows:
        gain = (row["table"], row["metric"], row["test"]) == ("gains", "Gain", "FIG") and row["task"] in GAINS
        check = (row["table"], row["metric"]) == ("validity", "Value") and not row["task"].startswith(ATTRIBUTES)
        if (gain or check) and row["value"] and row["low"]:
            digits = 1 if gain else 3
            numbers = [f"{float(row[name]):.{digits}f}" for name in ("value", "low", "high")]
            out.append(f"- {row['task']}: {numbers[0]} [{numbers[1]}, {numbers[2]}]")
    return "\n".join(out) + "\n"


def _shown(cell: Mapping[str, str]) -> str:
    if not cell["value"]:
        return GAP
    spread = f" ±{float(cell['spread']):.2f}" if cell["spread"] else ""
    return f"{float(cell['value']):.2f}{spread}"


def readme_table(text: str) -> dict[tuple[str, str, str], str]:
    """{(method, task, metric): cell} of the table with `HEADER` in a text of Markdown; empty where there is none.

    Raises ValueError for a row of another length or a cell that `NUMBER` does not match.
    """
    lines = text.splitlines()
    if markdown_row(HEADER) not in lines:
        return {}
    cells = {}
    for line in lines[lines.index(markdown_row(HEADER)) + 2 :]:
        if not line.startswith("|"):
            break
        method, *shown = (text_of_cell.strip() for text_of_cell in line.strip("|").split("|"))
        if len(shown) != len(COLUMNS):
            raise ValueError(f"{method}: {len(shown)} cells for {len(COLUMNS)} columns")
        for column, cell in zip(COLUMNS, shown):
            if not NUMBER.fullmatch(cell):
                raise ValueError(f"{method}, {' '.join(column)}: {cell!r} is no figure")
            cells[method, *column] = cell
    return cells


def readme_problems(text: str, rows: list[dict]) -> list[str]:
    """What a README's table says that a run does not: methods, gaps, and figures that the run does not confirm.

    A figure is confirmed if it lies inside the run's own interval. The interval of a single training lacks the noise of
    training; so a mean over `TRAININGS` with its standard deviation is also confirmed by a run whose mean is no further
    away than that of as many further trainings would be in 95 of 100 cases.
    """
    ours, problems = _cells(rows), []
    for cell_name, cell in readme_table(text).items():
        known, name = ours.get(cell_name), " ".join(cell_name)
        if known is None:
            problems.append(f"{name}: not in this run")
        elif (cell == GAP) != (not known["value"]):
            problems.append(f"{name}: {cell} there, {known['value'] or GAP} here")
        elif cell != GAP and not _confirmed(cell, known):
            problems.append(f"{name}: {cell} there, {float(known['value']):.2f} [{known['low']}, {known['high']}] here")
    return problems


def _confirmed(cell: str, known: Mapping[str, str]) -> bool:
    found = NUMBER.fullmatch(cell)
    if found is None:
        return False
    shown, spread = found.groups()
    if float(known["low"]) <= float(shown) <= float(known["high"]):
        return True
    trainings = TRAININGS if known["spread"] else 1
    reach = QUANTILE * float(spread or 0) * (1 / TRAININGS + 1 / trainings) ** 0.5
    return abs(float(known["value"]) - float(shown)) <= reach
