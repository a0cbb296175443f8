"""How what is damaged, removed or left undone is built again: the command for it, and the marks that see to it."""

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from verified.runtime.announcements import CONFIGURATIONS

BEGUN = ".begun"
"""Ending of the mark of what a job began to build again."""


def mark_of(path: str | os.PathLike[str]) -> Path:
    """Where it is noted that a damaged file was removed and is to be built again."""
    path = Path(path)
    return path.with_name(f".{path.name}.rebuild")


def begun_of(path: str | os.PathLike[str]) -> Path:
    """Where it is noted that a job began to build a sealed file again; it is gone when the file is sealed."""
    path = Path(path)
    return path.with_name(f".{path.name}{BEGUN}")


def rebuild_command(paths: Iterable[str | os.PathLike[str]], configurations: str | None = None) -> str:
    """The commands that build these files again, and nothing else that is sound.

    `configurations`: configuration files, quoted for a shell; None: those of the run that this job belongs to.
    """
    names = list(map(str, paths))
    there = [name for name in names if os.path.lexists(name)]
    if configurations is None:
        configurations = os.environ.get(CONFIGURATIONS, "")
    options = f" --configfile {configurations}" if configurations else ""
    build = f"snakemake --cores all {shlex.join(names)}{options}"
    return f"rm -r {shlex.join(there)} && {build}" if there else build


def marked_files(folder: str | os.PathLike[str]) -> list[str]:
    """Files below `folder` that a healing removed and that are still to be built again."""
    return _absent(folder, ".rebuild")


def files_to_rebuild(workflow: Any, folder: str) -> Callable[[object], list[str]]:
    """An input function of Snakemake's `workflow`: what a healing removed below `folder`, no later run has built again,
    and a rule still makes."""

    def files(wildcards: object) -> list[str]:
        return [path for path in marked_files(folder) if any(rule.is_producer(path) for rule in workflow.rules)]

    return files


def begun_again(folder: str | os.PathLike[str]) -> list[str]:
    """Files below `folder` that a job began to build again and did not: the job failed, and they are gone."""
    return _absent(folder, BEGUN)


def _absent(folder: str | os.PathLike[str], ending: str) -> list[str]:
    paths: list[str] = []
    for base, _, names in os.walk(folder):
        marks = (name for name in names if name.startswith(".") and name.endswith(ending))
        paths += [os.path.join(base, name[1:].removesuffix(ending)) for name in marks]
    return sorted(path for path in paths if not os.path.exists(path))


def finish_begun(workflow: Any, folder: str) -> None:
    """Have this Snakemake build what failed jobs left undone, wherever it is behind a target, and what depends on it.

    Snakemake removes what a failed job had written. A file that is gone and behind others that are there counts for it
    as one that nobody needs, so it would say that there is nothing to be done, and keep what was made of the earlier
    state. Unlike `--forcerun`, this makes no targets of the files.
    """
    if not workflow.is_main_process:
        return
    build: Callable[[], None] = workflow._build_dag

    def build_with_begun() -> None:
        workflow.dag.forcefiles.update(begun_again(folder))
        build()

    workflow._build_dag = build_with_begun
