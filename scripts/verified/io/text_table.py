"""Tables of plain text, for a terminal."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any


def align(lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Align lines of cells, each column as wide as needed; the columns `right`, numbered from 0, to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def text_table(columns: list[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as plain text under the names of their columns, numbers to the right."""
    shown = [[_cell(row.get(column)) for column in columns] for row in rows]
    right = [
        number
        for number, column in enumerate(columns)
        if all(isinstance(row.get(column), int | float | None) for row in rows)
    ]
    return align([columns, *shown], right)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
