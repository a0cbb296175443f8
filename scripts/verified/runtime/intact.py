"""Check each file that a command reads against its seal: once in a process, unless the file changes.

Jobs check their inputs all at once (see `runtime.job`). The inputs of a command follow from its arguments, so commands
check files when they open them: Python reports each opening to an audit hook (`sys.addaudithook`), and code that opens
files in C (HDF5, safetensors) reports itself by `sys.audit`. Files with a seal, or in a folder with one, are checked.
Other files are refused if Snakemake has recorded a job as their writer, and otherwise belong to the user.
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
"""Parent folders that are searched for a seal if the file is not below a `results/`."""

_checked: dict[str, tuple[int, ...]] = {}
"""State (device, inode, bytes, times in nanoseconds) of each file when it matched its seal."""
_watching = False
_installed = False


def check_intact(path: str | os.PathLike[str], required: bool = False, remedy: str = "") -> None:
    """Raise InputError unless a file matches its seal or that of a folder around it.

    `required`: an unsealed file is refused wherever it is. `remedy` replaces the command that rebuilds it. A folder is
    checked for its own seal alone; its files are checked when they are read.
    """
    path = Path(path)
    state = _state(path)
    if state is None or _checked.get(key := os.path.abspath(path)) == state:
        return  # the reader reports a missing file
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
            hold(owner, again, member, remedy)  # it was replaced in the meantime
        for target in link_targets(path):  # HDF5 itself opens these in C
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
    """Inside the block, check every file of a run against its seal before this process reads it."""
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
