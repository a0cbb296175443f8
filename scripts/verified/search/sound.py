"""Files of an index are as they were sealed, wherever the index lies; else they are refused before they are read."""

from pathlib import Path

from verified.errors import InputError
from verified.runtime.intact import check_intact


def sound(folder: Path, *names: str) -> None:
    """Check files of the index in `folder`, by their paths there; each once in a process, unless it changes.

    Raises InputError for one that is gone, has no seal, or is not what was sealed.
    """
    remedy = f"remove {folder} and build the index again: verified index; to copy one, copy hidden files too: cp -a"
    for name in names:
        if not (folder / name).is_file():
            raise InputError("is gone from the index", file=folder / name, remedy=remedy)
        check_intact(folder / name, required=True, remedy=remedy)
