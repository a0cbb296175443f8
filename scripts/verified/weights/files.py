"""Files of a model: select the ones to fetch and verify the local ones."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.errors import InputError

SAFE = ".safetensors"
OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".h5", ".msgpack", ".ot", ".onnx", ".gguf", ".tflite", ".ckpt")
"""Other formats of the same weights; they are skipped if safetensors are published."""
NEVER_NEEDED = (".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".gitattributes")
CHUNK = 1 << 22


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


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def blob_of(path: Path) -> str:
    """Git's SHA-1 of a file's content; the hub gives it for small files."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def first_difference(folder: Path, files: Mapping[str, dict]) -> tuple[str, str] | None:
    """(file, problem) for the first of `files` ({name: {bytes, sha256}}) that is missing from `folder` or differs."""
    for name, facts in files.items():
        path = folder / name
        if not path.is_file():
            return name, "it is missing"
        if path.stat().st_size != facts["bytes"]:
            return name, f"it has {path.stat().st_size} bytes, not {facts['bytes']}"
    for name, facts in files.items():
        digest = sha256_of(folder / name)
        if digest != facts["sha256"]:
            return name, f"its SHA-256 is {digest}, not {facts['sha256']}"
    return None


def check(folder: Path, files: Mapping[str, dict], key: str, remedy: str) -> None:
    """Raise InputError unless `folder` holds all of `files` unchanged."""
    difference = first_difference(folder, files)
    if difference:
        name, problem = difference
        raise InputError(f"{key} is not what the lock file names: {problem}", file=folder / name, remedy=remedy)
