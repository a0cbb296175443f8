"""Fetch one model at the commit of the lock file; the first fetch takes the hub's current commit and locks it.

The hub is Hugging Face's, or the address in HF_ENDPOINT. A folder may replace it: ORGANISATION/NAME/ below it holds a
model's files, which are used in place. UMT's checkpoint (.pth) is fetched from its address, verified and pinned alike.
"""

import fcntl
import hashlib
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config.evaluator import Evaluator
from verified.config.model import Weights
from verified.errors import InputError
from verified.io.files import file_digest
from verified.released.files import download_part
from verified.weights.records import Wanted, add_to_lock, read_lock

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

log = logging.getLogger("verified")

PAGE = "https://huggingface.co"
SAFE = ".safetensors"
OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".h5", ".msgpack", ".ot", ".onnx", ".gguf", ".tflite", ".ckpt")
"""Other formats of the same weights; they are skipped if safetensors are published."""
NEVER_NEEDED = (".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".gitattributes")


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
    commit, files = look_up(model)
    sizes = {name: file.size for name, file in files.items()}
    log.info("%s: %.2f GB in %d files", model.key, sum(size or 0 for size in sizes.values()) / 1e9, len(sizes))
    folder = bring(model, commit, sizes, Path(weights.folder))
    return commit, check_against_hub(folder, files, model), folder


def _fetch_locked(model: Wanted, commit: str, files: dict[str, dict], weights: Weights) -> Path:
    if model.revision and len(model.revision) == len(commit) and model.revision != commit:
        raise InputError(
            f"{model.key} is locked at commit {commit}", file=weights.lock, remedy="remove the entry to pin it again"
        )
    if weights.hub:
        folder = _local_folder(model, Path(weights.hub))
        check(folder, files, model.key, f"put the locked files there, or remove the entry from {weights.lock}")
        return folder
    folder = folder_of(model, commit, Path(weights.folder))
    if changed := [name for name, facts in files.items() if difference(folder / name, facts)]:
        for name in changed:
            (folder / name).unlink(missing_ok=True)
        folder = bring(model, commit, {n: facts["bytes"] for n, facts in files.items()}, Path(weights.folder))
        check(folder, files, model.key, f"fetch again; if it stays so, remove the entry from {weights.lock}")
    return folder


def size_of(model: Wanted, weights: Weights) -> int:
    """Bytes of a model's files, by the lock file or else the hub. Raises InputError if neither gives them."""
    entry = read_lock(weights.lock)["models"].get(model.key)
    if entry:
        return sum(facts["bytes"] for facts in entry["files"].values())
    if weights.hub:
        return sum(facts["bytes"] for facts in _describe_local(model, Path(weights.hub))[1].values())
    return sum(file.size or 0 for file in look_up(model)[1].values())


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


def look_up(model: Wanted) -> "tuple[str, dict[str, RepoSibling]]":
    """Commit and needed files of the requested revision, as the hub lists them. Raises InputError with a remedy."""
    from huggingface_hub import HfApi

    try:
        repository = HfApi().model_info(model.name, revision=model.revision or None, files_metadata=True)
    except Exception as error:
        raise explain(error, model) from None
    file_of = {file.rfilename: file for file in repository.siblings or ()}
    return str(repository.sha), {name: file_of[name] for name in needed_files(file_of)}


def bring(model: Wanted, commit: str, sizes: Mapping[str, int | None], folder: Path) -> Path:
    """Download the files of `sizes` (bytes, if known) at `commit`; returns the model's folder below `folder`.

    Complete files are skipped and interrupted ones resume. The library's own download restarts each interrupted file; a
    single one of these has five gigabytes. Concurrent fetches take turns.
    """
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    at = folder_of(model, commit, folder)
    at.mkdir(parents=True, exist_ok=True)
    with (at / ".turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for name, size in sizes.items():
            path = at / name
            if path.is_file():
                continue
            partial = path.with_name(f".{path.name}.part")
            partial.parent.mkdir(parents=True, exist_ok=True)
            have = partial.stat().st_size if partial.is_file() else 0
            if size is not None and have > size:  # of another file
                partial.unlink()
                have = 0
            url = hf_hub_url(model.name, name, revision=commit)
            try:
                if have == 0 or have != size:
                    with partial.open("ab") as file:
                        http_get(url, file, resume_size=have, headers=build_hf_headers(), expected_size=size)
            except Exception as error:
                raise explain(error, model) from None
            partial.replace(path)
    return at


def folder_of(model: Wanted, commit: str, folder: Path) -> Path:
    """The folder in which `bring` puts a model."""
    return folder / model.name.replace("/", "--") / commit


def check_against_hub(at: Path, files: "Mapping[str, RepoSibling]", model: Wanted) -> dict[str, dict]:
    """{file: {bytes, sha256}} of the downloaded files. Raises InputError, and deletes the file, for a mismatch with the
    hub."""
    from huggingface_hub.utils.sha import git_hash

    facts = {}
    for name, file in files.items():
        path = at / name
        digest = file_digest(path)
        expected, found = (file.lfs.sha256, digest) if file.lfs else (file.blob_id, git_hash(path.read_bytes()))
        if expected not in (None, found):
            path.unlink()
            raise InputError(
                f"{name} of {model.key} arrived with other bytes than the hub has published",
                file=path,
                remedy="it was removed; run the same command again",
            )
        facts[name] = {"bytes": path.stat().st_size, "sha256": digest}
    return facts


def explain(error: Exception, model: Wanted) -> Exception:
    """An InputError for errors of hub, network or disk; any other exception is returned unchanged."""
    from huggingface_hub import errors

    if isinstance(error, errors.HFValidationError):
        return InputError(f"{model.name!r} is neither a model's name on the hub nor a folder on this machine")
    refusals = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError)
    unreachable = errors.HTTPError  # pyright: ignore[reportPrivateImportUsage]  (of whichever HTTP client the hub uses)
    if isinstance(error, refusals):
        cause = error
        remedy = f"see {PAGE}/{model.name}; for a private or gated one accept its terms, and put a token into HF_TOKEN"
    elif isinstance(error, (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, unreachable, OSError)):
        cause = error.__cause__ or error
        remedy = "run again: what has arrived is kept; without a way to the hub, set weights.hub to a folder of models"
    else:
        return error
    address, reason = os.environ.get("HF_ENDPOINT", PAGE), " ".join(str(cause).split())[:300]
    return InputError(f"{model.key} could not be fetched from {address}: {reason}", remedy=remedy)


def needed_files(names: Iterable[str]) -> list[str]:
    """The files that loading a model takes: its weights in one format, without pictures and read-me files.

    `consolidated.safetensors`, Mistral's own form, repeats the weights of the `model` files.
    """
    names = [name for name in names if not name.lower().endswith(NEVER_NEEDED)]
    at_top = [name for name in names if "/" not in name]
    if any(name.startswith("model") and name.endswith(SAFE) for name in at_top):
        names = [n for n in names if not n.endswith(OTHER_WEIGHTS) and not n.startswith("consolidated")]
    elif any(name.startswith("pytorch_model") and name.endswith(".bin") for name in at_top):
        names = [n for n in names if not n.endswith(OTHER_WEIGHTS) or n.startswith("pytorch_model")]
    return sorted(name for name in names if not name.startswith(("onnx/", "openvino/", "coreml/", "original/")))


def difference(path: Path, facts: Mapping) -> str:
    """How a file differs from its facts {bytes, sha256}; empty if it does not."""
    if not path.is_file():
        return "it is missing"
    if path.stat().st_size != facts["bytes"]:
        return f"it has {path.stat().st_size} bytes, not {facts['bytes']}"
    digest = file_digest(path)
    return "" if digest == facts["sha256"] else f"its SHA-256 is {digest}, not {facts['sha256']}"


def check(folder: Path, files: Mapping[str, dict], key: str, remedy: str) -> None:
    """Raise InputError unless `folder` holds all of `files` ({name: {bytes, sha256}}) unchanged."""
    for name, facts in files.items():
        if problem := difference(folder / name, facts):
            raise InputError(f"{key} differs from the lock file: {problem}", file=folder / name, remedy=remedy)


def fetch_umt(evaluator: Evaluator, lock: str, pause: float = 2.0) -> dict:
    """Fetch `umt_file` from `umt_url` (resumes) unless it exists; returns the result of `check_umt`.

    Its SHA-256 must be `umt_sha256`, or the lock file's if the configuration names none; the first fetch sets the lock.
    Raises InputError if the file cannot be fetched or its SHA-256 differs.
    """
    path = Path(str(evaluator.umt_file))
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
    path = at or Path(str(evaluator.umt_file))
    key = evaluator.umt_url or str(evaluator.umt_file)
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
