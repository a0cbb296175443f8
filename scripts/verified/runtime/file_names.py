"""Validate names from files that become part of a path."""

import os

from verified.errors import InputError

LONGEST = 200
"""Bytes in UTF-8: file systems take 255, and temporary names and seals add to it."""


def is_inside(path: str) -> bool:
    """Whether a path from a file, in parts with slashes between or behind, stays below its folder."""
    parts = path.removesuffix("/").split("/")
    return not {"", ".", ".."} & set(parts) and path.isprintable() and "\\" not in path


def file_name(name: object, source: str | os.PathLike[str], what: str = "name") -> str:
    """`name`, which `source` gives, if it is valid as the name of one file or folder.

    Raises InputError, which calls the name `what`, for a name that is not text, is empty, hidden or too long, or holds
    slashes, backslashes or characters that cannot be printed.
    """
    if isinstance(name, str) and name.isprintable() and not name.startswith(".") and not set(name) & {"/", "\\"}:
        try:
            if 0 < len(name.encode()) <= LONGEST:
                return name
        except UnicodeEncodeError:
            pass
    raise InputError(
        f"the {what} {name!r} cannot be the name of a file",
        file=source,
        remedy=f"use letters, digits, hyphens and dots, at most {LONGEST}, and no dot in front",
    )
