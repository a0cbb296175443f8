"""What a finished run leaves to look at: the link results/tables, and a few lines on the terminal."""

import atexit
import csv
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from verified.io.text_table import align

SHOWN = Path("results/tables")
TARGETS = {"all", SHOWN.as_posix()}

log = logging.getLogger("verified")


def asks_for_tables(workflow) -> bool:
    """Whether this run of Snakemake was asked for the tables."""
    targets = workflow.dag_settings.targets
    return not targets or bool(TARGETS.intersection(targets))


def show_if_nothing_is_left(workflow, home: str) -> None:
    """When this run of Snakemake ends with nothing to do for the tables below `home`, `show` them all the same.

    Snakemake calls no hook then, so this waits for the end of the process, which by then is back in the folder that it
    was started in.
    """
    here = Path.cwd()

    def ended() -> None:
        planned = workflow.dag
        if planned is None or not any(True for _ in planned.jobs):
            return
        if asks_for_tables(workflow) and not any(True for _ in planned.needrun_jobs()):
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
        log.warning("warning: %s is not a link and is kept as it is; this run wrote %s", shown, tables)
        return
    new = shown.with_name(f".{shown.name}.{os.getpid()}")
    new.symlink_to(target)
    new.replace(shown)


def closing_message(tables: Path, leading: Iterable[str]) -> str:
    """The tables of these names aligned for a terminal, and where all tables are; "" when none of them was built."""
    shown = [_align(tables, name) for name in leading if (tables / f"{name}.csv").is_file()]
    return "\n".join(["", *shown, f"All tables: {tables}/\n"]) if shown else ""


def _align(tables: Path, name: str) -> str:
    with (tables / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    return f"{name} (all of it, with provenance, in {tables / name}.md)\n\n{align(rows)}\n"
