"""A folder that replaces the hub: ORGANISATION/NAME/ below it holds a model's files, which are used in place."""

import hashlib
from pathlib import Path

from verified.errors import InputError
from verified.weights.files import needed_files, sha256_of
from verified.weights.wanted import Wanted


def folder_of(wanted: Wanted, hub: Path) -> Path:
    """The model's folder. Raises InputError if it does not exist."""
    folder = hub / wanted.name
    if not folder.is_dir():
        raise InputError(
            f"no folder for {wanted.name}",
            file=folder,
            remedy="put the model's files there, or set weights.hub to null to fetch it from the hub",
        )
    return folder


def describe(wanted: Wanted, hub: Path) -> tuple[str, dict[str, dict], Path]:
    """(commit, files, folder) as `fetch` records them. A digest of the files replaces the commit, as folders have none.

    Raises InputError for a missing or empty folder.
    """
    folder = folder_of(wanted, hub)
    names = needed_files(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if not names:
        raise InputError(f"no files of {wanted.name}", file=folder)
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)} for name in names}
    digest = hashlib.sha1(usedforsecurity=False)
    for name, facts in files.items():
        digest.update(f"{name}\0{facts['sha256']}\n".encode())
    return digest.hexdigest(), files, folder
