"""UMT's checkpoint (.pth): fetched from its address, verified, and pinned by the lock file like models of the hub."""

import logging
from pathlib import Path

from verified.config.evaluator import Evaluator
from verified.errors import InputError
from verified.io.files import file_digest
from verified.released.files import download_part
from verified.weights.lock import add_to_lock, read_lock

log = logging.getLogger("verified")


def fetch_umt(evaluator: Evaluator, lock: str, pause: float = 2.0) -> dict:
    """Fetch `umt_file` from `umt_url` (resumes) unless it exists; returns the result of `check_umt`.

    Its SHA-256 must be `umt_sha256`, or the lock file's if the configuration names none; the first fetch sets the lock.
    Raises InputError if the file cannot be fetched or its SHA-256 differs.
    """
    path = Path(_file(evaluator))
    if path.is_file():
        return check_umt(evaluator, lock)
    if not evaluator.umt_url:
        raise InputError(
            "no such file, and evaluator.umt_url names no address", file=path, remedy="put UMT's checkpoint there"
        )
    partial = path.with_name(path.name + ".part")
    download_part(evaluator.umt_url, partial, None, f"fetch it by hand and save it as {path}", pause)
    try:
        checked = check_umt(evaluator, lock, partial)
    except InputError:
        partial.unlink()
        raise
    partial.replace(path)
    return checked


def check_umt(evaluator: Evaluator, lock: str, at: Path | None = None) -> dict:
    """{"bytes", "sha256"} of the checkpoint at `at` (default `umt_file`). Raises InputError if its SHA-256 is not the
    pinned one."""
    path = at or Path(_file(evaluator))
    key = evaluator.umt_url or _file(evaluator)
    facts = {"bytes": path.stat().st_size, "sha256": file_digest(path)}
    locked = read_lock(lock)["files"].get(key)
    for meant, who in ((evaluator.umt_sha256, "evaluator.umt_sha256"), (locked and locked["sha256"], lock)):
        if meant and meant != facts["sha256"]:
            raise InputError(
                f"this is not the checkpoint that {who} names: {facts['bytes']} bytes, SHA-256 {facts['sha256']}",
                file=path,
                remedy=f"expected SHA-256 {meant}; remove the file to fetch it again from {key}",
            )
    if not locked:
        add_to_lock(lock, "files", key, facts)
        log.info("%s: SHA-256 %s, now in %s", path, facts["sha256"], lock)
    return facts


def _file(evaluator: Evaluator) -> str:
    if evaluator.umt_file is None:
        raise InputError("no checkpoint of UMT is named", remedy="name its file in evaluator.umt_file")
    return evaluator.umt_file
