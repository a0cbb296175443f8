"""Safe reading of HDF5 files of any origin: only arrays of numbers stored in the file itself.

HDF5 can let a data set's bytes come from any other file (raw external storage, virtual data sets, links), require code
from elsewhere (filters), contain objects instead of numbers, and claim any size. All of these appear in the file's own
description and are refused before a byte of a data set is read.
"""

# h5py has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import contextlib
import math
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import h5py  # pyright: ignore[reportMissingTypeStubs] (it has none)

from verified.errors import InputError

JOINED = "shards_sha256"
"""Attribute of the files that `link_features` writes; links in other files are not followed."""
FILTERS = {1: "gzip", 2: "shuffle", 3: "Fletcher-32", 4: "szip", 5: "n-bit", 6: "scale-offset", 32000: "LZF"}
"""Filters included in h5py, by their HDF5 numbers."""
DENSEST = 1100
"""Most bytes that one stored byte expands to: deflate, the densest of the filters, reaches 1,032."""
LONGEST_CHAIN = 4
"""Most files in a chain of links."""
COPY = "copy it into a file of its own: h5py's Dataset[()] and create_dataset do"


@contextlib.contextmanager
def reading(path: Path, what: str) -> Generator[None]:
    """Convert any HDF5 exception on a damaged file to InputError; `what` is being read."""
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
            f"{what} cannot be read: {detail}", file=path, remedy="the file is damaged: fetch or write it again"
        ) from None


def open_hdf5(path: Path) -> h5py.File:
    """Open for reading without locks: concurrent readers are safe, also on file systems without locks."""
    if not path.exists():
        raise InputError("no such file", file=path)
    if not path.is_file():
        raise InputError("not a file", file=path)
    sys.audit("open", os.fspath(path), "rb", 0)  # like Python's own open: commands check seals there
    try:
        return h5py.File(path, "r", locking=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"not a readable HDF5 file: {error}", file=path) from None


def link_to(file: h5py.File, name: str) -> h5py.HardLink | h5py.SoftLink | h5py.ExternalLink | None:
    """The file's link to `name`; None if there is none. The path ends at the first link that leaves the file.

    Only groups of the file itself are followed.
    """
    link: Any = None
    node: Any = file
    for part in name.split("/"):
        if not isinstance(node, h5py.Group) or part in ("", "."):
            return None
        try:
            link = node.get(part, getlink=True)
        except UnicodeEncodeError:  # not the name of any file
            return None
        if not isinstance(link, h5py.HardLink):
            return link
        node = node[part]
    return link


def data_set(file: h5py.File, name: str, path: Path, key: str, length: int = 0) -> h5py.Dataset:
    """The data set `name` of an open file, checked; messages call it features of `key`.

    Raises InputError (file, key, remedy) if it is missing, no data set, or unsafe to read.
    """
    what = f"features of {key!r}"
    link = link_to(file, name)
    if link is None:
        raise InputError(f"{what}: is not there", file=path)
    if isinstance(link, h5py.ExternalLink):
        shard = path.parent / link.filename
        if JOINED not in file.attrs or os.path.isabs(link.filename) or length == LONGEST_CHAIN:
            raise InputError(f"{what}: a link into another file, {link.filename}", file=path, remedy=COPY)
        if not shard.is_file():
            raise InputError(
                f"{what}: its shard {link.filename} is gone", file=path, remedy="put it back, or write both again"
            )
        return data_set(open_hdf5(shard), link.path.removeprefix("/"), shard, key, length + 1)
    if not isinstance(link, h5py.HardLink):
        raise InputError(f"{what}: a soft link to {link.path}", file=path, remedy=COPY)
    found = file[name]
    if not isinstance(found, h5py.Dataset):
        kind = "a group" if isinstance(found, h5py.Group) else "a type"
        raise InputError(f"{what}: {kind}, not a data set", file=path, remedy="give features as one array per key")
    if problem := _problem(found):
        raise InputError(f"{what}: {problem[0]}", file=path, remedy=problem[1])
    return found


def _problem(found: h5py.Dataset) -> tuple[str, str] | None:
    """The reason not to read a data set, and the remedy; None for a safe one."""
    plan = found.id.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        return "a virtual data set, whose values lie elsewhere", COPY
    if plan.get_external_count():
        return f"its bytes lie in another file, {os.fsdecode(plan.get_external(0)[0])}", COPY
    numbers = [plan.get_filter(place)[0] for place in range(plan.get_nfilters())]
    for number in numbers:
        if number not in FILTERS or not h5py.h5z.filter_avail(number):
            return (
                f"compressed by filter {number}, which is not built in",
                f"compress it with one of {', '.join(FILTERS.values())}",
            )
    if found.dtype.kind not in "fiu" or found.dtype.subdtype or found.dtype.itemsize > 8:
        return f"holds {found.dtype}, not numbers", "give features as float16 or float32"
    if not found.shape:
        return "one number or none, not an array", "leave out what has no features"
    stored, claimed = found.id.get_storage_size(), found.dtype.itemsize * math.prod(found.shape)
    if claimed > stored * (DENSEST if set(numbers) - {2, 3} else 1):
        return f"{list(found.shape)} numbers are claimed, {stored:,} bytes are stored", "fetch or write the file again"
    if 4 * math.prod(found.shape) > (memory := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
        return f"{list(found.shape)} numbers do not fit into {memory >> 30} GiB of memory", "give it in shorter pieces"
    return None
