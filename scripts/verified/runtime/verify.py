"""Verify a whole run against its seals: damaged, missing or unsealed files, and the order of their rebuild."""

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
    """A file or folder that differs from its job's output."""

    path: Path
    kind: str
    """damaged, gone, unsealed, or unfinished: a command was killed while it wrote it, and its next start completes
    it."""
    message: str


def verify(folder: Path) -> tuple[int, list[Finding]]:
    """Check everything below `folder` (relative to the working directory) against its seals.

    Returns the number of sealed files and folders, and the findings. Files that no job wrote, such as a user's notes,
    are skipped.
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
        # Targets of an HDF5 file's links are checked under their own names.
        return Finding(path, "damaged", error.problem) if str(error.file) == str(path) else None
    return None


def build_order(findings: list[Finding]) -> list[list[Path]]:
    """The paths of the findings in the order in which they were built, by folders, so that a rebuild outdates nothing
    else.

    A job's inputs were sealed before its outputs. Files that a run makes on demand are left out.
    """
    times = {finding.path: _sealing_time(finding.path) for finding in findings if not _temporary(finding.path)}
    folders: dict[Path, list[Path]] = {}
    for path in sorted(times, key=lambda path: times[path]):
        folders.setdefault(path.parent, []).append(path)
    return list(folders.values())


def temporary(findings: list[Finding]) -> list[Path]:
    """Existing files among the findings that a run makes on demand: to be removed, not to be rebuilt explicitly."""
    return [finding.path for finding in findings if _temporary(finding.path) and os.path.lexists(finding.path)]


def _temporary(path: Path) -> bool:
    """Whether a run makes `path` on demand, so that nobody has to request it."""
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
