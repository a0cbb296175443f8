"""What a finished run says on the terminal: where the tables are, and the main one."""

import csv
from pathlib import Path


def closing_message(tables: Path, main: str) -> str:
    """Table `main` aligned for a terminal and where all tables are; "" when it was not built."""
    table = tables / f"{main}.csv"
    if not table.is_file():
        return ""
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    widths = [max(map(len, column)) for column in zip(*rows)]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    return f"\n{main} (with intervals and provenance in {tables / main}.md)\n\n{text}\n\nAll tables: {tables}/\n"
