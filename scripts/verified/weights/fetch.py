"""Fetch one model at the commit of the lock file; the first fetch takes the hub's current commit and locks it."""

import logging
from pathlib import Path

from verified.config.weights import Weights
from verified.errors import InputError
from verified.weights import hub, local_hub
from verified.weights.files import check, first_difference
from verified.weights.lock import add_to_lock, read_lock
from verified.weights.wanted import Wanted

log = logging.getLogger("verified")


def fetch_model(wanted: Wanted, weights: Weights) -> dict:
    """Fetch the model, check every file, and return its record, the content of a weights file.

    {"model", "revision" (as asked), "commit", "folder", "bytes", "files"}. Needs no network if the lock names the model
    and all its files are local. Raises InputError if it cannot be fetched or differs from the lock.
    """
    entry = read_lock(weights.lock)["models"].get(wanted.key)
    if entry is None:
        commit, files, folder = _first_time(wanted, weights)
        add_to_lock(weights.lock, "models", wanted.key, {"commit": commit, "files": files})
        log.info("%s: commit %s, now in %s", wanted.key, commit, weights.lock)
    else:
        commit, files = entry["commit"], entry["files"]
        folder = _fetch_locked(wanted, commit, files, weights)
        log.info("%s: commit %s, as %s says", wanted.key, commit, weights.lock)
    size = sum(facts["bytes"] for facts in files.values())
    return {
        "model": wanted.name,
        "revision": wanted.revision,
        "commit": commit,
        "folder": str(folder),
        "bytes": size,
        "files": files,
    }


def _first_time(wanted: Wanted, weights: Weights) -> tuple[str, dict[str, dict], Path]:
    if weights.hub:
        return local_hub.describe(wanted, Path(weights.hub))
    repository = hub.look_up(wanted)
    log.info("%s: %.2f GB in %d files", wanted.key, repository.bytes / 1e9, len(repository.sizes))
    folder = hub.bring(wanted, repository.commit, repository.sizes, Path(weights.folder))
    return repository.commit, hub.check_against_hub(folder, repository, wanted), folder


def _fetch_locked(wanted: Wanted, commit: str, files: dict[str, dict], weights: Weights) -> Path:
    if wanted.revision and len(wanted.revision) == len(commit) and wanted.revision != commit:
        raise InputError(
            f"{wanted.key} is locked at commit {commit}", file=weights.lock, remedy="remove the entry to pin it again"
        )
    if weights.hub:
        folder = local_hub.folder_of(wanted, Path(weights.hub))
        check(folder, files, wanted.key, f"put the locked files there, or remove the entry from {weights.lock}")
        return folder
    folder = hub.folder_of(wanted, commit, Path(weights.folder))
    if first_difference(folder, files):
        for name, facts in files.items():
            if first_difference(folder, {name: facts}):
                (folder / name).unlink(missing_ok=True)
        folder = hub.bring(wanted, commit, {n: facts["bytes"] for n, facts in files.items()}, Path(weights.folder))
        check(folder, files, wanted.key, f"fetch again; if it stays so, remove the entry from {weights.lock}")
    return folder
