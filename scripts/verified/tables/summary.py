"""Summary of a finished run: the link results/tables, and a few lines on the terminal."""

import logging
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from verified.io.text_tables import align

SHOWN = Path("results/tables")
TARGETS = {"all", SHOWN.as_posix()}

log = logging.getLogger("verified")


def asks_for_tables(workflow) -> bool:
    """Whether tables are a target of this run of Snakemake."""
    targets = workflow.dag_settings.targets
    return not targets or bool(TARGETS.intersection(targets))


def show(tables: Path, shown: Path = SHOWN) -> None:
    """Make `shown` a link to `tables`, or another output, if that exists. Only a link is ever replaced."""
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


def closing_message(tables: Path, leading: Iterable[str], configfiles: Sequence[str | os.PathLike[str]] = ()) -> str:
    """The tables of these names aligned for a terminal, the folder of all tables, and the next two commands.

    "" when none of them was built. `configfiles`: Snakemake's arguments, for the commands.
    """
    shown = [_align(tables, name) for name in leading if (tables / f"{name}.md").is_file()]
    if not shown:
        return ""
    options = "".join(f" --configfile {shlex.quote(os.fspath(file))}" for file in configfiles)
    following = [f"All tables: {tables}/", f"Figures and pages: verified report{options}"]
    following.append(f"Search these videos: verified index{options} && verified search --serve{options}")
    return "\n".join(["", *shown, *following, ""])


INTERVAL = re.compile(r" \[[^\]]*\]¹?")


def _align(tables: Path, name: str) -> str:
    """A table without its intervals: rows of the Markdown file, where the deviation over trainings is."""
    lines = (tables / f"{name}.md").read_text(encoding="utf-8").splitlines()
    title = lines[0].removeprefix("# ").removeprefix(f"{name}: ")
    header, _, *rows = (line for line in lines if line.startswith("| ") or line.startswith("|-"))
    cells = [INTERVAL.sub("", row).replace("**", "").strip("| ").split(" | ") for row in (header, *rows)]
    counted = [place for place in range(len(cells[0])) if all(row[place][:1] in "–-0123456789" for row in cells[1:])]
    return f"{title}; intervals and provenance: {tables / name}.md\n\n{align(cells, counted)}\n"
