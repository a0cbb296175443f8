"""Names in a configuration that become folders below results/."""

import re
from typing import Annotated

from pydantic import Field

LONGEST = 100
"""Characters: names of files are joined from several such names, and file systems end at 255 bytes."""
PATTERN = rf"^[a-z0-9][a-z0-9-]{{0,{LONGEST - 1}}}$"

Line = Annotated[str, Field(pattern=r"^[^\r\n]*$", max_length=300)]
"""A title or a name of one line, as tables, pages and messages print it."""


def is_name(value: object) -> bool:
    """Whether `value` can be the name of a run, a data set or a source."""
    return isinstance(value, str) and re.fullmatch(PATTERN, value) is not None


def check_name(name: str, kind: str = "name") -> None:
    """Raise ValueError, as validators of configurations do, where `name` cannot be the name of a folder."""
    if not is_name(name):
        excerpt = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise ValueError(f"{kind} {excerpt!r} must be lower-case letters, digits and hyphens, {LONGEST} at most")
