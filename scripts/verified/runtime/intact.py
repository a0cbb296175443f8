"""What a command reads is held against its seal first: each file once in a process, unless it changes.

Jobs check their inputs all at once (see `runtime.job`). What a command reads follows from its arguments, so there the
check sits at the opening of files: Python reports each to an audit hook (`sys.addaudithook`), and what opens files in C
(HDF5, safetensors) reports itself by `sys.audit`. Checked is what has a seal, or lies in a folder that has one. Without
either, a file is refused where Snakemake has noted that a job wrote it; any other is somebody's own.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Generator
from pathlib import Path

from verified.errors import InputError
from verified.runtime.content import link_targets
from verified.runtime.seals import BUILT, hold, is_job_output, is_unchecked, read_seal, unchecked, unsealed_error

DEEPEST = 4
"""Folders above a file that are looked at for a seal where it lies below no `results/`."""

_checked: dict[str, tuple[int, ...]] = {}
"""State (device, inode, bytes, times in nanoseconds) of each file when it was found as sealed."""
_watching = False
_installed = False


def check_intact(path: str | os.PathLike[str], required: bool = False, remedy: str = "") -> None:
    """Raise InputError unless a file is what its seal, or that of a folder around it, says.

    `required`: a file without either is refused wherever it lies. `remedy`: in place of the command that rebuilds it.
    Of a folder nothing but its own seal is looked at; its files are when they are read.
    """
    path = Path(path)
    state = _state(path)
    if state is None or _checked.get(key := os.path.abspath(path)) == state:
        return  # what is not there is missed by whoever opens it
    owner, written = _find_seal(path)
    if owner is None and path.resolve() != Path(key):
        path = path.resolve()
        owner, written = _find_seal(path)
    if owner is None or written is None:
        if required or is_job_output(path):
            raise unsealed_error(path, remedy)
    else:
        member = path.relative_to(owner).as_posix() if owner != path else ""
        try:
            hold(owner, written, member, remedy)
        except InputError:
            again = read_seal(owner)
            if again is None or again == written:
                raise
            hold(owner, again, member, remedy)  # it was exchanged in between
        for target in link_targets(path):  # opened in C, by HDF5 itself
            check_intact(target)
        _checked[key] = state


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _find_seal(path: Path) -> tuple[Path | None, dict[str, object] | None]:
    """The file itself, or the nearest folder around it, that has a seal, with that seal."""
    around = path.parents if BUILT in path.parts else list(path.parents)[:DEEPEST]
    for owner in (path, *around):
        if owner.name in ("", BUILT):
            break
        if (written := read_seal(owner)) is not None:
            return owner, written
    return None, None


@contextlib.contextmanager
def checked_reads() -> Generator[None]:
    """In the block, every file of a run that is opened for reading in this process is held against its seal first."""
    global _watching, _installed
    if not _installed:
        sys.addaudithook(_before)
        _installed = True
    _watching = True
    try:
        yield
    finally:
        _watching = False


def _before(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _watching or is_unchecked():
        return
    path, mode = arguments[0], arguments[1]
    if not isinstance(path, str) or not isinstance(mode, str) or not set(mode).isdisjoint("wax+"):
        return
    if path.endswith((".py", ".pyc")) or os.path.basename(path).startswith("."):
        return
    with unchecked():
        check_intact(path)
