"""A whole run held against its seals: what is damaged, gone or unsealed, and the order in which it is built again."""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from verified.errors import InputError
from verified.runtime.seals import (
    BUILT,
    ENDING,
    SHARED,
    check,
    read_seal,
    sealed_below,
    seals_below,
    unsealed_inputs,
)


class Finding(NamedTuple):
    """A file or folder that is not what its job wrote."""

    path: Path
    kind: str
    """damaged, gone, unsealed, or unfinished: a command was killed while it wrote it, and the next one ends that."""
    message: str


def verify(folder: Path) -> tuple[int, list[Finding]]:
    """Hold everything below `folder` (relative to the working directory) against its seals.

    Returns the number of sealed files and folders, and the findings. Files that no job wrote, such as a user's notes,
    are not looked at.
    """
    findings: list[Finding] = []
    count = 0
    for seal_file in sorted(seals_below(folder)):
        try:
            paths = sealed_below(seal_file)
        except InputError as error:
            paths = []
            path = seal_file.with_name(seal_file.name[1:].removesuffix(ENDING))
            findings.append(Finding(path, "damaged", error.problem))
        count += len(paths)
        findings += filter(None, map(_finding, paths))
    for place in sorted(unsealed_inputs(folder)):
        path = Path(BUILT, place)
        if folder in path.parents and path not in {finding.path for finding in findings}:
            kind, message = ("unsealed", "its seal is gone") if path.exists() else ("gone", "it was removed")
            findings.append(Finding(path, kind, message))
    return count, findings


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


def build_order(findings: list[Finding]) -> list[list[Path]]:
    """What was found, in the order in which it was built, by folders: rebuilt in this order, nothing else is outdated.

    What a job reads was sealed before what it writes. What a run makes where it needs it is left out.
    """
    times = {finding.path: _sealing_time(finding.path) for finding in findings if not _temporary(finding.path)}
    folders: dict[Path, list[Path]] = {}
    for path in sorted(times, key=lambda path: times[path]):
        folders.setdefault(path.parent, []).append(path)
    return list(folders.values())


def temporary(findings: list[Finding]) -> list[Path]:
    """What was found and is there, and is made where it is needed: to be removed, and not to be asked for."""
    return [finding.path for finding in findings if _temporary(finding.path) and os.path.lexists(finding.path)]


def _temporary(path: Path) -> bool:
    """Whether a run makes `path` where it needs it, and nobody has to ask for it."""
    if SHARED in path.parents:
        return True
    with contextlib.suppress(InputError):
        return bool((read_seal(path) or {}).get("temporary"))
    return False


def _sealing_time(path: Path) -> int:
    for seal_file in seals_below(path.parent):
        with contextlib.suppress(InputError):
            if path in sealed_below(seal_file):
                return seal_file.stat().st_mtime_ns
    return path.stat().st_mtime_ns if path.exists() else 0
