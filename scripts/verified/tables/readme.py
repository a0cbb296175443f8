"""The figures that README shows of a run: made from all.csv, and checked against it."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scipy.special import stdtrit

from verified.benchmark.intervals import LEVEL
from verified.benchmark.published import verdict_of
from verified.errors import InputError
from verified.io.text_tables import read_csv
from verified.tables.render import markdown_row
from verified.tables.table import GAP

TABLE = "main-4"
COLUMNS = tuple(("VCMR", metric) for metric in ("0.5/r1", "0.5/r10", "0.5/r100", "0.7/r1", "0.7/r10")) + tuple(
    ("VR", metric) for metric in ("r1", "r10", "r100")
)
HEADER = ("Method", *(f"{task} {metric}" for task, metric in COLUMNS))
NUMBER = re.compile(rf"{GAP}|(\d+\.\d\d)(?: ±(\d+\.\d\d))?")
"""Content of a cell: a gap, or percent with the standard deviation over trainings if there are several."""
GAINS = tuple(
    f"XML trained on {fine}; XML trained on {base}; {metric}"
    for fine, base in (("FIG", "COG"), ("FIG-highest", "FIG-lowest"))
    for metric in ("VCMR 0.5/r5", "VR r1")
)
TRAININGS = 3
"""Behind a README's mean and standard deviation, as the demo runs them."""
MARGIN = 5.0
"""Points by which two figures may differ and still be called the same."""
CONFIRMED, CONTRADICTED, UNKNOWN = "confirmed", "contradicted", "cannot tell"
VERDICTS_OF = {"reproduced": CONFIRMED, "differs": CONTRADICTED, "cannot tell": UNKNOWN}
ATTRIBUTES = "faithful captions: "
"""Checks of single attributes, which a README leaves to the table."""

NUMBERS = ("value", "low", "high", "spread")
READ = ("table", "method", "task", "metric", "test", "trainings", *NUMBERS)
"""Columns of all.csv that are read here."""
FIGURE = re.compile(r"-?\d{1,12}(\.\d{1,20})?(e-?\d{1,2})?")
AGAIN = "build the tables again: make tables"

Cells = Mapping[tuple[str, str, str], Mapping[str, str]]


def read_rows(path: str | os.PathLike) -> list[dict]:
    """Rows of the tidy frame all.csv. Raises InputError if it is missing or another file."""
    rows: list[dict] = []
    for number, row in read_csv(path, READ):
        if problem := _problem(row):
            raise InputError(problem, file=path, row=number, remedy=AGAIN)
        rows.append(row)
    cells = _cells(rows)
    for method in dict.fromkeys(method for method, _, _ in cells):
        for task, metric in COLUMNS:
            if (method, task, metric) not in cells:
                raise InputError(f"lacks {task} {metric} of {method}", file=path, remedy=AGAIN)
    return rows


def _problem(row: Mapping[str, str]) -> str | None:
    for name in NUMBERS:
        if row[name] and not FIGURE.fullmatch(row[name]):
            return f"{name} {row[name][:40]!r} is no number"
    untrained = not row["trainings"] and not row["spread"]
    counted = row["trainings"].isdecimal() and int(row["trainings"][:9])
    if row["table"] == TABLE and row["value"] and not (untrained or counted):
        return f"trainings {row['trainings'][:40]!r} is no count"
    return None


def _cells(rows: Iterable[Mapping[str, str]]) -> Cells:
    return {(row["method"], row["task"], row["metric"]): row for row in rows if row["table"] == TABLE}


def readme_figures(rows: list[dict]) -> str:
    """Markdown: the main table shortened, then a line per gain and per check against the truth, with intervals."""
    cells = _cells(rows)
    out = [markdown_row(HEADER), "|" + "---|" * len(HEADER)]
    for method in dict.fromkeys(method for method, _, _ in cells):
        out.append(markdown_row([method, *(_format_cell(cells[method, *column]) for column in COLUMNS)]))
    out.append("")
    for row in rows:
        gain = (row["table"], row["metric"], row["test"]) == ("gains", "Gain", "FIG") and row["task"] in GAINS
        check = (row["table"], row["metric"]) == ("validity", "Value") and not row["task"].startswith(ATTRIBUTES)
        if (gain or check) and row["value"] and row["low"]:
            digits = 1 if gain else 3
            numbers = [f"{float(row[name]):.{digits}f}" for name in ("value", "low", "high")]
            out.append(f"- {row['task']}: {numbers[0]} [{numbers[1]}, {numbers[2]}]")
    return "\n".join(out) + "\n"


def _format_cell(cell: Mapping[str, str]) -> str:
    if not cell["value"]:
        return GAP
    spread = f" ±{float(cell['spread']):.2f}" if cell["spread"] else ""
    return f"{float(cell['value']):.2f}{spread}"


def readme_table(text: str) -> dict[tuple[str, str, str], str]:
    """{(method, task, metric): cell} of the table with `HEADER` in a text of Markdown; empty if there is none.

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


@dataclass(frozen=True)
class Verdict:
    """Verdict of a run on one figure of a README."""

    name: str
    """Method, task and metric."""
    verdict: str
    """One of `CONFIRMED`, `CONTRADICTED`, `UNKNOWN`."""
    why: str


def readme_verdicts(text: str, rows: list[dict], margin: float = MARGIN) -> list[Verdict]:
    """A verdict for each figure of a README's table: does the run's model have it, within `margin` points?

    Both were tested on the same queries, so they differ by chance only through the noise of training. Its standard
    deviation is pooled from both sides, the README's of `TRAININGS` trainings. With d the difference of the means and
    Student's t, the 95 % interval of d decides: within the margin, confirmed; beyond it, contradicted; otherwise
    undetermined.
    """
    ours = _cells(rows)
    return [_verdict(" ".join(key), cell, ours.get(key), margin) for key, cell in readme_table(text).items()]


def _verdict(name: str, cell: str, known: Mapping[str, str] | None, margin: float) -> Verdict:
    if known is None:
        return Verdict(name, CONTRADICTED, "not in this run")
    ours = _format_cell(known)
    if (cell == GAP) != (ours == GAP):
        return Verdict(name, CONTRADICTED, f"{cell} there, {ours} here")
    if cell == GAP:
        return Verdict(name, CONFIRMED, "a gap in both")
    found = NUMBER.fullmatch(cell)
    assert found is not None, "readme_table lets no other cell pass"
    shown, spread = found.groups()
    sides = [(spread, TRAININGS)] if spread else []
    if known["spread"]:
        sides.append((known["spread"], int(known["trainings"])))
    both = f"{cell} there, {ours} here"
    if not known["trainings"]:  # an untrained model has no noise of training
        apart = abs(float(known["value"]) - float(shown))
        comparison = f"{both}: {apart:.2f} points apart, {margin:g} allowed"
        return Verdict(name, CONFIRMED if apart <= margin else CONTRADICTED, comparison)
    if not sides:
        return Verdict(name, UNKNOWN, f"{both}: one training each, the noise of training is not known")
    counts = [TRAININGS if spread else 1, int(known["trainings"])]
    freedom = sum(count - 1 for _, count in sides)
    deviation = (sum(float(spread) ** 2 * (count - 1) for spread, count in sides) / freedom) ** 0.5
    apart = abs(float(known["value"]) - float(shown))
    reach = stdtrit(freedom, (1 + LEVEL) / 2) * deviation * sum(1 / count for count in counts) ** 0.5
    comparison = f"{both}: {apart:.2f} ± {reach:.2f} points apart, {margin:g} allowed"
    return Verdict(name, VERDICTS_OF[verdict_of(0.0, apart, margin, apart - reach, apart + reach)], comparison)
