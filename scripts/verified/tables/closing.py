"""What a finished run leaves to look at: the link results/tables, and a few lines on the terminal."""

import atexit
import csv
import logging
import os
from pathlib import Path

SHOWN = Path("results/tables")
TARGETS = {"all", SHOWN.as_posix()}

log = logging.getLogger("verified")


def show_when_done(workflow, home: str) -> None:
    """When this run of Snakemake ends, `show` the tables below `home` if they were asked for and are there.

    At the end of the process, because Snakemake calls no hook where nothing was left to do. By then it has gone back to
    the folder that it was started in.
    """
    here = Path.cwd()

    def ended() -> None:
        asked = workflow.dag_settings.targets if workflow.dag_settings else None
        if asked is not None and (not asked or TARGETS.intersection(asked)):
            show(here / home / "tables", here / SHOWN)

    atexit.register(ended)


def show(tables: Path, shown: Path = SHOWN) -> None:
    """Make `shown` a link to `tables`, or another output, if that is there. What is no link is not ours and stays."""
    if not tables.exists():
        return
    target = os.path.relpath(tables, shown.parent)
    if shown.is_symlink():
        if os.readlink(shown) == target:
            return
    elif shown.exists():
        log.warning("warning: %s is no link and stays as it is; this run wrote %s", shown, tables)
        return
    new = shown.with_name(f".{shown.name}.{os.getpid()}")
    new.symlink_to(target)
    new.replace(shown)


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
