"""Fetch one model at the commit of the lock file; the first fetch takes the hub's current commit and locks it.

A folder may replace the hub: ORGANISATION/NAME/ below it holds a model's files, which are used in place.
"""

import hashlib
import logging
from pathlib import Path

from verified.config.model import Weights
from verified.errors import InputError
from verified.io.files import file_digest
from verified.weights import hub
from verified.weights.hub import check, first_difference, needed_files
from verified.weights.lock import add_to_lock, read_lock
from verified.weights.records import Wanted

log = logging.getLogger("verified")


def fetch_model(model: Wanted, weights: Weights) -> dict:
    """Fetch the model, check every file, and return its record, the content of a weights file,

    {"model", "revision" (as requested), "commit", "folder", "bytes", "files"}. Needs no network if the lock names the
    model and all its files are local. Raises InputError if it cannot be fetched or differs from the lock.
    """
    entry = read_lock(weights.lock)["models"].get(model.key)
    if entry is None:
        commit, files, folder = _first_time(model, weights)
        add_to_lock(weights.lock, "models", model.key, {"commit": commit, "files": files})
        log.info("%s: commit %s, now in %s", model.key, commit, weights.lock)
    else:
        commit, files = entry["commit"], entry["files"]
        folder = _fetch_locked(model, commit, files, weights)
        log.info("%s: commit %s, as %s says", model.key, commit, weights.lock)
    size = sum(facts["bytes"] for facts in files.values())
    return {
        "model": model.name,
        "revision": model.revision,
        "commit": commit,
        "folder": str(folder),
        "bytes": size,
        "files": files,
    }


def _first_time(model: Wanted, weights: Weights) -> tuple[str, dict[str, dict], Path]:
    if weights.hub:
        return _describe_local(model, Path(weights.hub))
    repository = hub.look_up(model)
    log.info("%s: %.2f GB in %d files", model.key, repository.bytes / 1e9, len(repository.sizes))
    folder = hub.bring(model, repository.commit, repository.sizes, Path(weights.folder))
    return repository.commit, hub.check_against_hub(folder, repository, model), folder


def _fetch_locked(model: Wanted, commit: str, files: dict[str, dict], weights: Weights) -> Path:
    if model.revision and len(model.revision) == len(commit) and model.revision != commit:
        raise InputError(
            f"{model.key} is locked at commit {commit}", file=weights.lock, remedy="remove the entry to pin it again"
        )
    if weights.hub:
        folder = _local_folder(model, Path(weights.hub))
        check(folder, files, model.key, f"put the locked files there, or remove the entry from {weights.lock}")
        return folder
    folder = hub.folder_of(model, commit, Path(weights.folder))
    if first_difference(folder, files):
        for name, facts in files.items():
            if first_difference(folder, {name: facts}):
                (folder / name).unlink(missing_ok=True)
        folder = hub.bring(model, commit, {n: facts["bytes"] for n, facts in files.items()}, Path(weights.folder))
        check(folder, files, model.key, f"fetch again; if it stays so, remove the entry from {weights.lock}")
    return folder


def size_of(model: Wanted, weights: Weights) -> int:
    """Bytes of a model's files, by the lock file or else the hub. Raises InputError if neither gives them."""
    entry = read_lock(weights.lock)["models"].get(model.key)
    if entry:
        return sum(facts["bytes"] for facts in entry["files"].values())
    if weights.hub:
        return sum(facts["bytes"] for facts in _describe_local(model, Path(weights.hub))[1].values())
    return hub.look_up(model).bytes


def _local_folder(model: Wanted, base: Path) -> Path:
    """The model's folder. Raises InputError if it does not exist."""
    folder = base / model.name
    if not folder.is_dir():
        raise InputError(
            f"no folder for {model.name}",
            file=folder,
            remedy="put the model's files there, or set weights.hub to null to fetch it from the hub",
        )
    return folder


def _describe_local(model: Wanted, base: Path) -> tuple[str, dict[str, dict], Path]:
    """(commit, files, folder) as `fetch_model` records them; a digest of the files replaces the commit of a folder.

    Raises InputError for a missing or empty folder.
    """
    folder = _local_folder(model, base)
    names = needed_files(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if not names:
        raise InputError(f"no files of {model.name}", file=folder)
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": file_digest(folder / name)} for name in names}
    digest = hashlib.sha1(usedforsecurity=False)
    for name, facts in files.items():
        digest.update(f"{name}\0{facts['sha256']}\n".encode())
    return digest.hexdigest(), files, folder
