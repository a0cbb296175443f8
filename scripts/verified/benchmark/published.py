"""The figures that the papers print, and the verdict of each comparison with ours."""

import csv
import os
from collections.abc import Mapping
from typing import NamedTuple

from verified.errors import InputError

VERDICTS = ("reproduced", "differs", "cannot tell", "partial", "not attempted")
"""Verdicts on a published figure compared with ours, in the order of the tables."""


class Place(NamedTuple):
    """Position of a figure in a paper; unused fields are empty."""

    table: str
    dataset: str
    method: str = ""
    train: str = ""
    test: str = ""
    task: str = ""
    metric: str = ""


Published = Mapping[Place, str]
"""Figures as published."""


def read_published(path: str | os.PathLike, paper: str) -> dict[Place, str]:
    """A paper's figures, as published, from config/published.csv; `paper` is verified, mad or rextime.

    Raises InputError for a value that is not a number (with an optional unit K or M) and for a duplicate.
    """
    figures: dict[Place, str] = {}
    with open(path, encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                place, value = Place(*(row[name] for name in Place._fields)), row["value"]
                plain(value)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InputError("a published value is not a number", file=path, row=number) from None
            if row.get("paper") == paper:
                if place in figures:
                    raise InputError("an earlier row has this figure", file=path, row=number)
                figures[place] = value
    return figures


def plain(figure: str) -> float:
    """The number of a figure in its printed unit: 18.2 of ``18.2K``."""
    return float(figure.rstrip("KM"))


def rounding(figure: str) -> float:
    """Rounding error of a number published with these decimals: half of the last one."""
    return 0.5 * 10 ** -len(figure.rstrip("KM").partition(".")[2])


def verdict_of(
    published: float,
    value: float | None,
    tolerance: float,
    low: float | None = None,
    high: float | None = None,
    trainings: int | None = None,
) -> str:
    """Whether our value equals the published one within `tolerance`, all in one unit: one of `VERDICTS`.

    With an interval: reproduced if all of it is within the tolerance, differs if all of it is beyond, and otherwise
    "cannot tell": noise proves nothing. Of a single training it cannot tell either: its interval lacks the noise of
    training.
    """
    if value is None:
        return "not attempted"
    if low is None or high is None:
        return "reproduced" if abs(value - published) <= tolerance + 1e-9 else "differs"
    if trainings == 1:
        return "cannot tell"
    if published - tolerance <= low and high <= published + tolerance:
        return "reproduced"
    return "differs" if high < published - tolerance or low > published + tolerance else "cannot tell"
