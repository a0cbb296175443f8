"""A table of any stage: a header, rows, notes; passed from rule to rule as JSON.

`build_tables` writes each one as KEY.md, .txt, .csv, .tex and .html with the run's provenance, and its numbers
into all.csv.
A file in `tables/added` makes such tables from a run's results. A stage whose tables need a separate job writes them
with `write_table_json` in a rule, whose file adds them to `STAGE_TABLES`; no other change is needed.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verified.errors import InputError
from verified.io.files import require_version
from verified.io.jsonl import is_object, read_json, write_json

GAP = "–"
DIGITS = 2
VERSION = 1
"""Version of the form of a file of tables."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float
    trainings: int | None = None
    """Number of trainings, the smaller one of a difference; None if untrained."""
    share: bool = False
    """Whether it is a share within 0 and 1, shown to people in percent; the CSV has the share."""


ONE_TRAINING = "¹"
"""Behind the interval of a single training, which lacks its noise."""
ONE_TRAINING_NOTE = (
    f"{ONE_TRAINING} One training: the interval holds the draw of test videos only, not the noise of training, so no"
    " difference is tested."
)


def estimate(value: float, low: float, high: float, trainings: int | None, digits: int = 2) -> "Estimate | float":
    """A rounded estimate, or the value alone if there is no interval (bounds that are not a number)."""
    value, low, high = (round(float(number), digits) + 0.0 for number in (value, low, high))  # + 0.0: no "-0.00"
    return value if math.isnan(low) else Estimate(value, low, high, trainings)


def aim_text(check: Mapping) -> str:
    """The aim of a check of the validity table as people read it: that of a share in percent, ``>= 95 %``."""
    comparison, _, bound = check["aim"].partition(" ")
    return f"{comparison} {100 * float(bound):g} %" if bound and check.get("share") else check["aim"]


def p_or_why(p: float | None) -> float | str:
    """Cell of a column of p-values; `p` as of `verified.benchmark.intervals.difference`."""
    if p is None:
        return "one training"
    return "one video" if math.isnan(p) else float(p)


Value = str | int | float | Estimate | None


@dataclass(frozen=True)
class Table:
    """One table of plain values. Raises ValueError where a row does not fit or a value is not one of `Value`."""

    key: str
    """File name of the table: lower-case letters, digits and hyphens."""
    title: str
    header: tuple[str, ...]
    """One heading a column, each different. Columns named Data set, Method, Train, Test, Task fill those of all.csv."""
    rows: Sequence[Sequence[Value]]
    """Texts, whole numbers, floats, estimates; None is a gap."""
    notes: Sequence[str] = ()
    """Sentences below the table."""
    digits: int | tuple[int, ...] = DIGITS
    """Decimals of floats and estimates: one for all columns, or one per column. Whole numbers have none."""

    def __post_init__(self):
        for name, value in (("header", self.header), ("rows", map(tuple, self.rows)), ("notes", self.notes)):
            object.__setattr__(self, name, tuple(value))
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", self.key):
            raise ValueError(f"table key {self.key!r} must be lower-case letters, digits and hyphens")
        if len(set(self.header)) < len(self.header):
            raise ValueError(f"table {self.key}: two columns have one heading")
        if not isinstance(self.digits, int):
            object.__setattr__(self, "digits", tuple(self.digits))
            if len(self.digits) != len(self.header):
                raise ValueError(f"table {self.key}: digits for {len(self.digits)} of {len(self.header)} columns")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ValueError(f"table {self.key}, row {number}: {len(row)} values for {len(self.header)} columns")
            for heading, value in zip(self.header, row):
                if not _is_value(value):
                    raise ValueError(f"table {self.key}, row {number}, {heading}: cannot show {value!r}")

    @property
    def labels(self) -> int:
        """Number of leading columns that name the row: those before the first column that holds a number."""
        texts = [all(isinstance(row[n], str) for row in self.rows) for n in range(len(self.header))]
        return texts.index(False) if False in texts else len(texts)

    def texts(self) -> list[list[str]]:
        """Every value as shown, ``0.70 [0.60, 0.80]``."""
        digits = [self.digits] * len(self.header) if isinstance(self.digits, int) else self.digits
        return [[format_value(value, decimals) for value, decimals in zip(row, digits)] for row in self.rows]


def _is_value(value: object) -> bool:
    if isinstance(value, Estimate):
        return all(
            not isinstance(number, bool) and math.isfinite(number) for number in (value.value, value.low, value.high)
        )
    if isinstance(value, float | int):
        return not isinstance(value, bool) and math.isfinite(value)
    return value is None or isinstance(value, str)


def format_value(value: Value, digits: int) -> str:
    """One value as text; a gap is an en dash."""
    if value is None:
        return GAP
    if isinstance(value, Estimate):
        mark = ONE_TRAINING if value.trainings == 1 else ""
        if value.share:
            return f"{100 * value.value:.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]{mark}"
        return f"{value.value:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]{mark}"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def write_table_json(path: str | os.PathLike, tables: Iterable[Table]) -> None:
    """Write tables for `build_tables` to read."""
    write_json(path, {"version": VERSION, "tables": [_plain(table) for table in tables]})


def read_table_json(path: str | os.PathLike) -> list[Table]:
    """The tables of one file. Raises InputError for a file that `write_table_json` has not written."""
    document, remedy = read_json(path), "let its rule write it again"
    require_version(document.get("version") if is_object(document) else None, VERSION, "tables", path, remedy)
    try:
        return [_table(entry) for entry in document["tables"]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"not a file of tables: {error}", file=path, remedy=remedy) from None


def _plain(table: Table) -> dict:
    rows = [[vars(value) if isinstance(value, Estimate) else value for value in row] for row in table.rows]
    return {**vars(table), "rows": rows}


def _table(entry: dict) -> Table:
    rows = [[Estimate(**value) if isinstance(value, dict) else value for value in row] for row in entry["rows"]]
    return Table(**{**entry, "rows": rows})
