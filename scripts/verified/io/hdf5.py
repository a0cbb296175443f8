"""HDF5 feature files in the TVR family's layout: one data set [items, dim] per key, with attributes on their origin.

HDF5 treats a slash in a name as a group separator, and an id such as ``kitchen/breakfast`` has one. So a data set's
name is its key with slashes and per cent signs encoded as in web addresses (``kitchen%2Fbreakfast``). Other keys are
stored unchanged, as in published files; those are also read with an unencoded slash or per cent sign.

Files of any origin are read safely: only arrays of numbers stored in the file itself. HDF5 can read a data set's bytes
from any other file (raw external storage, virtual data sets, links), require external code (filters), contain objects
instead of numbers, and claim any size. All of these appear in the file's metadata and are refused before a byte of a
data set is read.
"""

import contextlib
import hashlib
import io
import math
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)
import numpy as np

from verified.errors import InputError
from verified.io.files import atomic_path, checked_file, file_digest

# h5py has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

JOINED = "shards_sha256"
"""Attribute of the files that `link_features` writes; links in other files are not followed."""
FILTERS = {1: "gzip", 2: "shuffle", 3: "Fletcher-32", 4: "szip", 5: "n-bit", 6: "scale-offset", 32000: "LZF"}
"""Filters included in h5py, by their HDF5 numbers."""
DENSEST = 1100
"""Most bytes that one stored byte expands to: deflate, the densest of the filters, reaches 1,032."""
LONGEST_CHAIN = 4
"""Most files in a chain of links."""
REMEMBERED = 8192
"""Data sets that an open file remembers as checked; beyond that, each visit looks them up and checks them again."""
COPY = "copy it into a file of its own: h5py's Dataset[()] and create_dataset do"


@contextlib.contextmanager
def reading(path: Path, part: str) -> Generator[None]:
    """Convert any HDF5 exception on a damaged file to InputError; `part` names the contents."""
    try:
        yield
    except (
        OSError,
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
        AttributeError,
    ) as error:
        detail = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{part} cannot be read: {detail}", file=path, remedy="the file is damaged: fetch or write it again"
        ) from None


def open_hdf5(path: Path) -> h5py.File:
    """Open for reading without locks: concurrent readers are safe, also on file systems without locks."""
    path = checked_file(path)
    try:
        return h5py.File(path, "r", locking=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"not a readable HDF5 file: {error}", file=path) from None


def link_to(group: h5py.Group, name: str) -> h5py.HardLink | h5py.SoftLink | h5py.ExternalLink | None:
    """The link to `name` from a file or group; None if there is none. The path ends at the first link that leaves the
    file: only groups of the file itself are followed.
    """
    part, slash, rest = name.partition("/")
    if part in ("", "."):
        return None
    try:
        link: Any = group.get(part, getlink=True)
    except UnicodeEncodeError:  # not the name of any file
        return None
    if not slash or not isinstance(link, h5py.HardLink):
        return link
    inside = group[part]
    return link_to(inside, rest) if isinstance(inside, h5py.Group) else None


def data_set(
    file: h5py.File, name: str, path: Path, key: str, shards: dict[Path, h5py.File] | None = None, length: int = 0
) -> h5py.Dataset:
    """The data set `name` of an open file, checked; messages call it features of `key`. `shards` are those open so far.

    Raises InputError (file, key, remedy) if it is missing, no data set, or unsafe to read.
    """
    subject = f"features of {key!r}"
    link = link_to(file, name)
    if link is None:
        raise InputError(f"{subject}: is not there", file=path)
    if isinstance(link, h5py.ExternalLink):
        shard = path.parent / link.filename
        if JOINED not in file.attrs or os.path.isabs(link.filename) or length == LONGEST_CHAIN:
            raise InputError(f"{subject}: a link into another file, {link.filename}", file=path, remedy=COPY)
        shards = {} if shards is None else shards
        if shard not in shards:
            if not shard.is_file():
                raise InputError(
                    f"{subject}: its shard {link.filename} is gone",
                    file=path,
                    remedy="put it back, or write both again",
                )
            shards[shard] = open_hdf5(shard)
        return data_set(shards[shard], link.path.removeprefix("/"), shard, key, shards, length + 1)
    if not isinstance(link, h5py.HardLink):
        raise InputError(f"{subject}: a soft link to {link.path}", file=path, remedy=COPY)
    # file[name] also makes objects of the file, which takes thrice as long.
    found: Any = h5py.h5o.open(file.id, name.encode())  # pyright: ignore[reportAttributeAccessIssue] (it has no types)
    if not isinstance(found, h5py.h5d.DatasetID):
        kind = "a group" if isinstance(found, h5py.h5g.GroupID) else "a type"
        raise InputError(f"{subject}: {kind}, not a data set", file=path, remedy="give features as one array per key")
    if problem := _problem(found):
        raise InputError(f"{subject}: {problem[0]}", file=path, remedy=problem[1])
    return h5py.Dataset(found)


def _problem(found: Any) -> tuple[str, str] | None:
    """The reason not to read a data set, an `h5d.DatasetID`, and the remedy; None for a safe one."""
    plan = found.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        return "a virtual data set, whose values lie elsewhere", COPY
    if plan.get_external_count():
        return f"its bytes lie in another file, {os.fsdecode(plan.get_external(0)[0])}", COPY
    filters = [plan.get_filter(place)[0] for place in range(plan.get_nfilters())]
    for number in filters:
        if number not in FILTERS or not h5py.h5z.filter_avail(number):
            return (
                f"compressed by filter {number}, which is not built in",
                f"compress it with one of {', '.join(FILTERS.values())}",
            )
    dtype, shape = found.dtype, found.shape
    if dtype.kind not in "fiu" or dtype.subdtype or dtype.itemsize > 8:
        return f"holds {dtype}, not numbers", "give features as float16 or float32"
    if not shape:
        return "one number or none, not an array", "leave out items without features"
    stored, claimed = found.get_storage_size(), dtype.itemsize * math.prod(shape)
    if claimed > stored * (DENSEST if set(filters) - {2, 3} else 1):
        return f"{list(shape)} numbers are claimed, {stored:,} bytes are stored", "fetch or write the file again"
    if 4 * math.prod(shape) > (memory := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
        return f"{list(shape)} numbers do not fit into {memory >> 30} GiB of memory", "give it in shorter pieces"
    return None


def name_of(key: str) -> str:
    """The name of a key's data set."""
    return "%2E" if key == "." else key.replace("%", "%25").replace("/", "%2F")


def key_of(name: str) -> str:
    """The key of the data set of this name."""
    return unquote(name)


class _Disk(io.FileIO):
    """A file that keeps the first error of writing, for `check`, and from then on all that is written in memory.

    HDF5 has to read its own writes back and to close the file without an error: else it reads unset memory, and
    crashes.
    """

    def __init__(self, path: str | os.PathLike[str], mode: str):
        super().__init__(path, mode)
        self.error: OSError | None = None
        self.unwritten: list[tuple[int, bytes]] = []

    def write(self, data: Any) -> int:
        start, rest = self.tell(), memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest and not self.error:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = error
        if self.error:
            self.unwritten.append((start + size - len(rest), bytes(rest)))
            self.seek(start + size)
        return size

    def readinto(self, buffer: Any) -> int:
        start, view = self.tell(), memoryview(buffer).cast("B")
        count = super().readinto(view)
        if not self.error:
            return count
        view[count:] = bytes(len(view) - count)
        for at, data in self.unwritten:
            first, last = max(at, start), min(at + len(data), start + len(view))
            if first < last:
                view[first - start : last - start] = data[first - at : last - at]
        self.seek(start + len(view))
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size or 0

    def check(self) -> None:
        if self.error:
            raise self.error


@contextlib.contextmanager
def create_hdf5(path: str | os.PathLike[str]) -> Generator[tuple[h5py.File, Callable[[], None]]]:
    """A new HDF5 file, written through a temporary file, and a function that raises OSError if a write has failed.

    The end of the block calls it too; long work calls it between its parts.
    """
    with atomic_path(path) as temporary, _Disk(temporary, "w+") as disk:
        try:
            with h5py.File(disk, "w") as file:
                yield file, disk.check
        finally:
            disk.check()


def write_features(
    path: str | os.PathLike[str],
    attributes: Mapping[str, object],
    items: Iterable[tuple[str, np.ndarray, Mapping[str, object]]],
) -> int:
    """Write (key, array [items, dim], attributes of the data set) through a temporary file; returns their number.

    Arrays keep their type (float16 or float32). Attributes of the file always include `dim`, here checked against every
    array: ValueError for an array of another width or with values that are not finite.
    """
    count = 0
    with create_hdf5(path) as (file, check):
        file.attrs.update(attributes)
        for key, array, dataset_attributes in items:
            if array.ndim != 2 or array.shape[1] != attributes["dim"]:
                raise ValueError(f"{key}: features have shape {array.shape}, expected [items, {attributes['dim']}]")
            if not np.isfinite(array).all():
                raise ValueError(f"{key}: features are not all finite")
            file.create_dataset(name_of(key), data=array).attrs.update(dataset_attributes)
            check()
            count += 1
    return count


def link_features(
    path: str | os.PathLike[str], shards: Iterable[str | os.PathLike[str]], attributes: Mapping[str, object]
) -> int:
    """Write one small file whose data sets are external links (relative paths) into the shards; returns their number.

    The attributes are the shards' own, which must agree, `attributes`, and a SHA-256 over the shards' bytes,
    `shards_sha256`: without it, a change of a shard would leave the file unchanged, and its readers would not be rerun.
    Raises InputError if shards differ in an attribute or share a key.
    """
    path = Path(path)
    seen: dict[str, Path] = {}
    common: dict[str, Any] | None = None
    content = hashlib.sha256()
    with create_hdf5(path) as (file, _):
        for shard in map(Path, shards):
            with open_hdf5(shard) as source, reading(shard, "the list of its data sets"):
                content.update(f"{shard.name} {file_digest(shard)}\n".encode())
                shard_attributes: dict[str, Any] = dict(source.attrs)
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
        file.attrs.update({**attributes, JOINED: content.hexdigest()})
    return len(seen)


class Room:
    """A shared budget of bytes for arrays in memory."""

    def __init__(self, size: int = 0):
        self.left = size

    def take(self, size: int) -> bool:
        """Reserve `size` bytes for an array; returns whether they fit."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Contents(NamedTuple):
    """Description of a feature file, for which no features are read."""

    width: int
    """Size of one feature: the attribute `dim`, or the width of the first data set."""
    lengths: dict[str, int]
    """Clips or tokens of the keys that were asked for."""
    attributes: dict[str, Any]


class FeatureFile:
    """Read-only mapping from key to features, float32 [items, dim]; the file is opened on first use."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._file: h5py.File | None = None
        self._checked: dict[str, Any] = {}
        self._shards: dict[Path, Any] = {}

    def _open(self) -> h5py.File:
        if self._file is None:
            self._file = open_hdf5(self.path)
        return self._file

    def _dataset(self, key: str) -> Any:  # h5py.Dataset
        file = self._open()
        if key not in self._checked:
            with reading(self.path, f"features of {key!r}"):
                found = data_set(file, self._name(key), self.path, key, self._shards)
            if len(self._checked) >= REMEMBERED:
                return found
            self._checked[key] = found
        return self._checked[key]

    def _name(self, key: str) -> str:
        """The name under which the file has `key`: ours, or the key itself in files of others."""
        ours = name_of(key)
        absent = ours != key and link_to(self._open(), ours) is None
        return key if absent and link_to(self._open(), key) is not None else ours

    def _values(self, key: str, rows: slice | tuple[()]) -> np.ndarray:
        found = self._dataset(key)
        with reading(self.path, f"features of {key!r}"):
            return np.asarray(found[rows])

    def __getitem__(self, key: str) -> np.ndarray:
        return self._values(key, ()).astype(np.float32)

    def read_stored(self, key: str) -> np.ndarray:
        """Features of `key` in the number format of the file."""
        return self._values(key, ())

    def rows(self, key: str, first: int, last: int) -> np.ndarray:
        """Items `first` to `last` (exclusive) of `key`, without reading the others."""
        return self._values(key, slice(first, last)).astype(np.float32)

    def describe(self, keys: Iterable[str] = (), unit: str = "items") -> Contents:
        """The contents of a file from which `keys` are to be read, each with at least one item (`unit`, in messages).

        Raises InputError for a file without features, and for a key that is not there or empty.
        """
        attributes = self.attributes
        if "dim" in attributes:
            width = self.dim
        elif (first := next(iter(self), None)) is not None:
            width = self.width(first)
        else:
            raise InputError("holds no features", file=self.path)
        lengths: dict[str, int] = {}
        for key in keys:
            lengths[key] = self.length(key)
            if not lengths[key]:
                raise InputError(f"features of {key!r} have no {unit}", file=self.path)
        return Contents(width, lengths, attributes)

    def finite(self, key: str, width: int, stored: bool = False) -> np.ndarray:
        """Features of `key`, float32 or in the number format of the file.

        Raises InputError for another width, and for values that are not finite.
        """
        array = self.read_stored(key) if stored else self[key]
        if array.ndim != 2 or array.shape[1] != width:
            shape = list(array.shape)
            raise InputError(f"features of {key!r} have shape {shape}, expected [items, {width}]", file=self.path)
        if not np.isfinite(array).all():
            raise InputError(f"features of {key!r} hold values that are not finite", file=self.path)
        return array

    def __contains__(self, key: str) -> bool:
        with reading(self.path, f"features of {key!r}"):
            return link_to(self._open(), self._name(key)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._open())

    def keys(self) -> list[str]:
        """All keys, in the file's order (alphabetical)."""
        with reading(self.path, "the list of its data sets"):
            return [key_of(name) for name in map(str, self._open())]

    def length(self, key: str) -> int:
        """Number of clips or tokens of `key`, without reading them."""
        return len(self._dataset(key))

    def width(self, key: str) -> int:
        """Size of one clip's or token's feature of `key`, without reading them."""
        return self._dataset(key).shape[-1]

    @property
    def attributes(self) -> dict[str, Any]:
        """The file's attributes: backbone, dim and others from the writer."""
        with reading(self.path, "an attribute"):
            stored: dict[str, Any] = dict(self._open().attrs.items())
        return {name: value.item() if getattr(value, "size", 0) == 1 else value for name, value in stored.items()}

    @property
    def dim(self) -> int:
        """Width of every data set."""
        width = self.attributes.get("dim")
        if not isinstance(width, int) or width < 1:
            raise InputError(
                f"its attribute dim is {width!r}", file=self.path, remedy="set it to the width of the data sets"
            )
        return width

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            self._checked.clear()
            self._shards.clear()
            self._file.close()
        self._file = None
