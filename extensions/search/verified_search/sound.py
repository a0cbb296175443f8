"""Check an index's files against their checksums at any location, and refuse changed ones before they are read."""

from pathlib import Path

from verified.errors import InputError
from verified.runtime.verify import check


def sound(folder: Path, *names: str) -> None:
    """Check files of the index in `folder`, by relative path; each once per process, unless it changes.

    A folder is checked whole. Raises InputError for a file that is missing, has no checksum record, or differs from it.
    """
    remedy = f"remove {folder} and build the index again: verified index; to copy one, copy hidden files too: cp -a"
    for name in names:
        if not (folder / name).exists():
            raise InputError("is gone from the index", file=folder / name, remedy=remedy)
        check(folder / name, required=True, remedy=remedy)
