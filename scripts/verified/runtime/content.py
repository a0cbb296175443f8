"""Measure a file or folder: its size, its SHA-256 and, for known formats, the number of its rows."""

import contextlib
import hashlib
import json
import os
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

TIMESTAMP = ".snakemake_timestamp"
"""The file that Snakemake puts into folders that a job wrote."""
CHUNK = 1 << 20


def measure(path: Path) -> dict[str, Any]:
    """`bytes`, `sha256` and, for known formats, `rows` and `unit` of a file; `files` and `sha256` of a folder."""
    if path.is_dir():
        return {"files": (files := files_of(path)), "sha256": hashlib.sha256(json.dumps(files).encode()).hexdigest()}
    digest, lines = digest_of(path)
    facts = {"bytes": path.stat().st_size, "sha256": digest}
    if path.suffix == ".jsonl":
        return {**facts, "rows": lines, "unit": "lines"}
    if path.suffix in _COUNTED:
        count, unit = _COUNTED[path.suffix]
        with contextlib.suppress(Exception):  # a damaged file has a size, but maybe no row count
            return {**facts, "rows": count(path), "unit": unit}
    return facts


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != TIMESTAMP)
    return {path.relative_to(folder).as_posix(): digest_of(path)[0] for path in files}


def digest_of(path: Path) -> tuple[str, int]:
    """SHA-256 and the number of line ends, in one pass."""
    digest, lines, buffer = hashlib.sha256(), 0, bytearray(CHUNK)
    view, counts = memoryview(buffer), path.suffix == ".jsonl"
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(view[:size])
            lines += buffer.count(b"\n", 0, size) if counts else 0
    return digest.hexdigest(), lines


def _count_tensors(path: Path) -> int:
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return len(json.loads(file.read(min(length, 100 * CHUNK))).keys() - {"__metadata__"})


def _count_members(path: Path) -> int:
    if path.suffix == ".tar":
        with tarfile.open(path) as archive:
            return len(archive.getnames())
    with zipfile.ZipFile(path) as archive:
        return len(archive.namelist())


def _count_data_sets(path: Path) -> int:
    import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)

    with h5py.File(path, "r", locking=False) as file:
        return len(file)


def _count_array(path: Path) -> int:
    import numpy as np

    return len(np.load(path, mmap_mode="r", allow_pickle=False))


_COUNTED = {
    ".h5": (_count_data_sets, "data sets"),
    ".npy": (_count_array, "rows"),
    ".npz": (_count_members, "arrays"),
    ".safetensors": (_count_tensors, "tensors"),
    ".tar": (_count_members, "members"),
}


def link_targets(path: Path) -> list[Path]:
    """The target files of the links in an HDF5 file, each once; empty for other files."""
    if path.suffix != ".h5":
        return []
    import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)

    with h5py.File(path, "r", locking=False) as file:
        links: list[object] = [
            file.get(key, getlink=True)  # pyright: ignore[reportUnknownMemberType] (has no types)
            for key in map(str, file)
        ]
        names = dict.fromkeys(link.filename for link in links if isinstance(link, h5py.ExternalLink))
    return [Path(os.path.normpath(path.parent / name)) for name in names]
