"""Summary of a finished run: the link results/tables, and a few lines on the terminal."""

import logging
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

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


def closing_message(
    tables: Path,
    leading: Iterable[str],
    configfiles: Sequence[str | os.PathLike[str]] = (),
    further: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> str:
    """The tables of these names as plain text, the folder of all tables, and the next commands.

    "" when none of them was built. `configfiles`: Snakemake's arguments, for the commands. `further`: commands of
    extensions by their purpose.
    """
    texts = [
        f"{(tables / f'{name}.txt').read_text(encoding='utf-8')}\nIntervals and provenance: {tables / name}.md\n"
        for name in leading
        if (tables / f"{name}.txt").is_file()
    ]
    if not texts:
        return ""
    options = "".join(f" --configfile {shlex.quote(os.fspath(file))}" for file in configfiles)
    following = [f"All tables: {tables}/"]
    for purpose, commands in {"Figures and pages": ["verified report"], **further}.items():
        following.append(f"{purpose}: {' && '.join(f'{command}{options}' for command in commands)}")
    return "\n".join(["", *texts, *following, ""])
