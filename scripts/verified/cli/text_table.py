"""Tables of plain text, for a terminal."""


def text_table(columns: list[str], rows: list[dict]) -> str:
    """Plain text, columns as wide as they need to be, numbers to the right."""
    shown = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[index]) for line in [columns, *shown]) for index in range(len(columns))]
    numeric = [all(isinstance(row.get(column), int | float | None) for row in rows) for column in columns]
    lines = [columns, *shown]
    return "\n".join(
        "  ".join(
            text.rjust(width) if right else text.ljust(width) for text, width, right in zip(line, widths, numeric)
        ).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
