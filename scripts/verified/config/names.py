"""Names in a configuration that become folders below results/."""

import re

LONGEST = 100
"""Characters: names of files are joined from several such names, and file systems end at 255 bytes."""
PATTERN = rf"^[a-z0-9][a-z0-9-]{{0,{LONGEST - 1}}}$"


def is_name(value: object) -> bool:
    """Whether `value` can be the name of a run, a data set or a source."""
    return isinstance(value, str) and re.fullmatch(PATTERN, value) is not None


def check_name(name: str, kind: str = "name") -> None:
    """Raise ValueError, as validators of configurations do, where `name` cannot be the name of a folder."""
    if not is_name(name):
        shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise ValueError(f"{kind} {shown!r} must be lower-case letters, digits and hyphens, {LONGEST} at most")
