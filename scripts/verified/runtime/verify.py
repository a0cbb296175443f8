"""A whole run held against its seals: what is damaged, gone or unsealed; and the removal of what is damaged."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verified.errors import InputError
from verified.runtime.made_with import is_noted
from verified.runtime.rebuilding import mark_of
from verified.runtime.seals import SHARED, check, read_seal, seal_of


class Finding(NamedTuple):
    """A file or folder that is not what its job wrote."""

    path: Path
    kind: str
    """damaged, gone, unsealed, or unfinished: a command was killed while it wrote it, and the next one ends that."""
    message: str


def verify(folder: Path) -> tuple[int, list[Finding]]:
    """Hold everything below `folder` (relative to the working directory) against its seals.

    Returns the number of seals and the findings. Files that no job wrote, such as a user's notes, are not looked at.
    """
    findings: list[Finding] = []
    covered: set[Path] = set()
    seals = 0
    for seal_file in sorted(_all(folder)):
        if seal_file.name.startswith(".") and seal_file.name.endswith(".seal"):
            path = seal_file.with_name(seal_file.name[1:].removesuffix(".seal"))
            seals += 1
            covered.add(path)
            if finding := _finding(path):
                findings.append(finding)
    unsealed = (path for path in _all(folder) if not path.name.startswith("."))
    for path in sorted(unsealed):
        if path not in covered and not covered.intersection(path.parents) and is_noted(path.as_posix()):
            findings.append(Finding(path, "unsealed", "a job wrote it, and its seal is gone"))
    for path in sorted({Path(base) for base, _, _ in os.walk(folder)}):
        if path not in covered and not covered.intersection(path.parents) and is_noted(path.as_posix()):
            findings.append(Finding(path, "unsealed", "a job wrote it, and its seal is gone"))
    return seals, findings


def _finding(path: Path) -> Finding | None:
    try:
        written = read_seal(path)
        if written is not None and "unfinished" in written:
            return Finding(path, "unfinished", "the command that writes it was killed; the next one finishes it")
        if not path.exists():
            return None if _temporary(path) else Finding(path, "gone", "it was removed")
        check(path)
    except InputError as error:
        # What an HDF5 file links is looked at under its own name.
        return Finding(path, "damaged", error.problem) if str(error.file) == str(path) else None
    return None


def _all(folder: Path) -> Iterator[Path]:
    for base, _, names in os.walk(folder):
        yield from (Path(base, name) for name in names)


def heal(findings: list[Finding]) -> None:
    """Remove what was found, with its seals, and note that it is to be built again."""
    for finding in findings:
        path, temporary = finding.path, _temporary(finding.path)
        if not temporary:  # those the run makes again where it needs them
            mark_of(path).touch()  # before anything is gone: killed, it is still known
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if not (temporary and _seal_is_sound(path)):  # it stays as that of any temporary file that a run removed
            seal_of(path).unlink(missing_ok=True)


def _seal_is_sound(path: Path) -> bool:
    with contextlib.suppress(InputError):
        return read_seal(path) is not None
    return False


def build_order(findings: list[Finding]) -> list[list[Path]]:
    """What was found, in the order in which it was built, by folders: rebuilt in this order, nothing else is outdated.

    What a job reads was sealed before what it writes. What a run makes where it needs it is left out. To be asked
    before anything is removed.
    """
    times = {finding.path: _sealing_time(finding.path) for finding in findings if not _temporary(finding.path)}
    folders: dict[Path, list[Path]] = {}
    for path in sorted(times, key=lambda path: times[path]):
        folders.setdefault(path.parent, []).append(path)
    return list(folders.values())


def _temporary(path: Path) -> bool:
    """Whether a run makes `path` where it needs it, and nobody has to ask for it."""
    if SHARED in path.parents:
        return True
    with contextlib.suppress(InputError):
        return bool((read_seal(path) or {}).get("temporary"))
    return False


def _sealing_time(path: Path) -> int:
    existing = [file for file in (seal_of(path), path) if file.exists()]
    return existing[0].stat().st_mtime_ns if existing else 0
