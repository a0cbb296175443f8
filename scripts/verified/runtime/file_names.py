"""Names that files give and that become part of a path: one place decides whether they may."""

import os

from verified.errors import InputError

LONGEST = 200
"""Bytes in UTF-8: file systems take 255, and temporary names and seals add to it."""


def is_inside(path: str) -> bool:
    """Whether a path that a file gives, in parts with slashes between or behind, stays below its folder."""
    parts = path.removesuffix("/").split("/")
    return not {"", ".", ".."} & set(parts) and path.isprintable() and "\\" not in path


def file_name(name: object, source: str | os.PathLike[str], what: str = "name") -> str:
    """`name`, which `source` gives, if it can stand for one file or folder and for nothing outside of it.

    Raises InputError, which calls the name `what`, for one that is no text, empty, hidden, too long, or holds slashes,
    backslashes or characters that cannot be printed.
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
