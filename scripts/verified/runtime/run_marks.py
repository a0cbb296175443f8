"""Runs that work in one folder at the same time leave each other's marks alone.

Snakemake marks the files that a run reads and writes in .snakemake/locks, and refuses a run that would write the same.
When any run ends, version 9 removes the folder with the marks of all runs: another that is about to write its own
fails, and one that goes on has none any more, so that a third run may write the same files. Here a run removes its own
marks, and looking at those of others, writing and removing are done by one run at a time.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable
from itertools import count
from pathlib import Path
from typing import Any

GUARD = "marks.lock"
"""File below .snakemake that is locked for the moment in which marks are looked at, written or removed."""


def keep_own_marks() -> None:
    """Let Snakemake, in this process, remove the marks of its own run alone. `--unlock` still removes all."""
    from snakemake.persistence.file import FilePersistence  # pyright: ignore[reportMissingTypeStubs] (it has none)

    for name, ours in (("lock", _lock), ("_write_locks", _write), ("_delete_locks", _delete)):
        if not hasattr(FilePersistence, name):
            raise AttributeError(f"Snakemake's FilePersistence has no {name}: see {__name__}")
        setattr(FilePersistence, name, ours)


@contextlib.contextmanager
def _lock(persistence: Any) -> Generator[None]:
    from snakemake.exceptions import LockException  # pyright: ignore[reportMissingTypeStubs] (it has none)

    with _guarded(persistence):
        if persistence.locked:
            raise LockException()
        persistence._write_locks("input", map(str, persistence.all_inputfiles()))
        persistence._write_locks("output", map(str, persistence.all_outputfiles()))
    try:
        yield
    finally:
        persistence.unlock()


def _write(persistence: Any, kind: str, files: Iterable[str]) -> None:
    lines = "".join(f"{file}\n" for file in files)
    folder = Path(persistence._lockdir)
    folder.mkdir(parents=True, exist_ok=True)
    for number in count() if lines else ():
        mark = folder / f"{number}.{kind}.lock"
        with contextlib.suppress(FileExistsError), mark.open("x", encoding="utf-8") as file:
            persistence._lockfile[kind] = str(mark)
            file.write(lines)
            return


def _delete(persistence: Any) -> None:
    with _guarded(persistence):
        own = persistence._lockfile.values() or map(str, Path(persistence._lockdir).glob("*.lock"))
        for mark in own:
            with contextlib.suppress(FileNotFoundError):
                os.remove(mark)
        persistence._lockfile.clear()


@contextlib.contextmanager
def _guarded(persistence: Any) -> Generator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # no locks on this file system: as Snakemake does without them
            guard = stack.enter_context(Path(persistence._lockdir).with_name(GUARD).open("a"))
            fcntl.flock(guard, fcntl.LOCK_EX)
        yield
