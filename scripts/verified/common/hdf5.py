"""HDF5 feature files in the TVR family's layout: one data set [items, dim] per key, with attributes on their origin.

HDF5 takes a slash in a name for a group separator, and an id such as ``kitchen/breakfast`` has one. So a data set's
name is its key with slashes and per cent signs encoded as in web addresses (``kitchen%2Fbreakfast``). Other keys are
stored as they are, as in the files that others publish; those are also read where they keep a slash or a per cent sign.
"""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import h5py
import numpy as np

from verified.common.errors import InputError
from verified.common.files import atomic_path, file_digest


def name_of(key: str) -> str:
    """The name of a key's data set."""
    return "%2E" if key == "." else key.replace("%", "%25").replace("/", "%2F")


def key_of(name: str) -> str:
    """The key of the data set of this name."""
    return unquote(name)


def write_features(
    path: str | os.PathLike, attributes: Mapping[str, object], items: Iterable[tuple[str, np.ndarray, Mapping]]
) -> int:
    """Write (key, array [items, dim], attributes of the data set) through a temporary file; returns how many.

    Arrays keep their type (float16 or float32). Attributes of the file always include `dim`, here checked against every
    array: ValueError for an array of another width or with values that are not finite.
    """
    count = 0
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
        file.attrs.update(attributes)
        for key, array, dataset_attributes in items:
            if array.ndim != 2 or array.shape[1] != attributes["dim"]:
                raise ValueError(f"{key}: features have shape {array.shape}, expected [items, {attributes['dim']}]")
            if not np.isfinite(array).all():
                raise ValueError(f"{key}: features are not all finite")
            file.create_dataset(name_of(key), data=array).attrs.update(dataset_attributes)
            count += 1
    return count


def link_features(
    path: str | os.PathLike, shards: Iterable[str | os.PathLike], attributes: Mapping[str, object]
) -> int:
    """Write one small file whose data sets are external links (relative paths) into the shards; returns how many.

    The attributes are the shards' own, which must agree, `attributes`, and a SHA-256 over the shards' bytes,
    `shards_sha256`: the links alone would stay as they are when a shard changes, and their readers would not be
    run again. Raises InputError where shards differ in an attribute or share a key.
    """
    path = Path(path)
    seen: dict[str, Path] = {}
    common: dict | None = None
    content = hashlib.sha256()
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
        for shard in map(Path, shards):
            with _open(shard) as source:
                content.update(f"{shard.name} {file_digest(shard)}\n".encode())
                shard_attributes = dict(source.attrs)
                common = shard_attributes if common is None else common
                if shard_attributes != common:
                    raise InputError(
                        f"attributes {shard_attributes} differ from {common} of the first shard", file=shard
                    )
                for name in map(str, source):
                    if name in seen:
                        raise InputError(f"{key_of(name)!r} is also in {seen[name]}", file=shard)
                    seen[name] = shard
                    file[name] = h5py.ExternalLink(os.path.relpath(shard, path.parent), f"/{name}")
        file.attrs.update(common or {})
        file.attrs.update({**attributes, "shards_sha256": content.hexdigest()})
    return len(seen)


def _open(path: Path) -> h5py.File:
    """Open for reading without locks: many processes may read, also on file systems that have no locks."""
    sys.audit("open", os.fspath(path), "rb", 0)  # as Python's own open does: commands check seals there
    try:
        return h5py.File(path, "r", locking=False)
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except OSError as error:
        raise InputError(f"not a readable HDF5 file: {error}", file=path) from None


class FeatureFile:
    """Read-only mapping from key to features, float32 [items, dim].

    Opens the file on first use in each process, so an instance may be handed to worker processes by fork or pickle.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self._file: h5py.File | None = None
        self._owner: int | None = None

    def _opened(self) -> h5py.File:
        if self._file is None or self._owner != os.getpid():
            # A handle inherited by fork shares its file position with the parent: never use or close it here.
            self._file, self._owner = _open(self.path), os.getpid()
        return self._file

    def _dataset(self, key: str) -> h5py.Dataset:
        file, name = self._opened(), self._name(key)
        try:
            stored = file[name]
        except KeyError:
            link = file.get(name, getlink=True) if name in list(file) else None
            detail = f"its shard {link.filename} is gone" if isinstance(link, h5py.ExternalLink) else "is not there"
            raise InputError(f"features of {key!r}: {detail}", file=self.path) from None
        if not isinstance(stored, h5py.Dataset):
            raise InputError(f"features of {key!r}: a group, not a data set", file=self.path)
        return stored

    def _name(self, key: str) -> str:
        """The name under which the file has `key`: ours, or the key itself in files of others."""
        ours = name_of(key)
        return key if ours not in self._opened() and key in self._opened() else ours

    def __getitem__(self, key: str) -> np.ndarray:
        return self._dataset(key)[()].astype(np.float32)

    def stored(self, key: str) -> np.ndarray:
        """Features of `key` in the number format of the file."""
        return self._dataset(key)[()]

    def rows(self, key: str, first: int, last: int) -> np.ndarray:
        """Items `first` to `last` (exclusive) of `key`, without reading the others."""
        return self._dataset(key)[first:last].astype(np.float32)

    def __contains__(self, key: str) -> bool:
        return self._name(key) in self._opened()

    def __iter__(self) -> Iterator[str]:
        return map(key_of, self._opened())

    def __len__(self) -> int:
        return len(self._opened())

    def keys(self) -> list[str]:
        """All keys, in the file's order (alphabetical)."""
        return list(self)

    def length(self, key: str) -> int:
        """Number of clips or tokens of `key`, without reading them."""
        return self._dataset(key).shape[0]

    @property
    def attributes(self) -> dict:
        """The file's attributes: backbone, dim and what else the writer stated."""
        return {name: value.item() if hasattr(value, "item") else value for name, value in self._opened().attrs.items()}

    @property
    def dim(self) -> int:
        """Width of every data set."""
        return int(self.attributes["dim"])

    def close(self) -> None:
        """Close the file in this process; the next use opens it again."""
        if self._file is not None and self._owner == os.getpid():
            self._file.close()
        self._file = self._owner = None

    def __getstate__(self) -> dict:
        return {"path": self.path, "_file": None, "_owner": None}
