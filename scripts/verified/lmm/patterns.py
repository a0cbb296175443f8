"""Patterns of texts that models write, from `patterns.yaml`, with an example of each."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("patterns.yaml")


@cache
def sections() -> dict[str, Any]:
    """Groups of rows by the name of their section; `parts` has the parts of patterns."""
    return yaml.safe_load(FILE.read_text("utf-8"))


def source(row: dict[str, str]) -> str:
    """The regular expression of a row, without names of parts."""
    return _filled(row["pattern"] if "pattern" in row else "{SENTENCE}" + row["opening"])


@cache
def compiled(section: str, group: str) -> re.Pattern[str]:
    """One pattern for all rows of a group."""
    rows = sections()[section][group]
    openings = "|".join(row["opening"] for row in rows if "opening" in row)
    parts = [f"{{SENTENCE}}(?:{openings})"] * bool(openings) + [row["pattern"] for row in rows if "pattern" in row]
    return re.compile(_filled("|".join(parts)), re.I)


def _filled(text: str) -> str:
    def part(name: re.Match[str]) -> str:
        value = sections()["parts"][name[1]]
        return _filled(value if isinstance(value, str) else "|".join(value)).join(("(?:", ")"))

    return re.sub(r"\{([A-Z_]+)\}", part, text)
