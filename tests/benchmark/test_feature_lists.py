"""What the pages of extensions say of each part of their documents: everything that they name is there."""

import re

import pytest
from running import PROJECT

from verified.__main__ import parser
from verified.cli.command import COMMANDS
from verified.config.key_table import key_table

RULES = "\n".join(path.read_text() for path in sorted(PROJECT.glob("**/*.smk")))
PACKAGE = "\n".join(
    path.read_text()
    for path in sorted([*PROJECT.glob("scripts/verified/**/*.py"), *PROJECT.glob("extensions/*/verified_*/**/*.py")])
)
KEYS = set(re.findall(r"^\| `([\w.]+)` \|", key_table(), re.MULTILINE))
parser()  # imports all modules that declare commands
SECTION = re.compile(r"## What of the (?:paper|document) is where\n(.+?)\n## ", re.DOTALL)


def listed(page: str) -> list[tuple[str, str]]:
    """Rows of the list of a page: part of the document, and where it is."""
    section = SECTION.search((PROJECT / page).read_text(encoding="utf-8"))
    assert section is not None
    return re.findall(r"^\| (?!of the |---)(.+?) \| (.+) \|$", section[1], re.MULTILINE)


def is_there(name: str) -> bool:
    if name.startswith("verified "):
        return name.removeprefix("verified ") in COMMANDS
    if name.endswith((".svg", ".json")):
        drawn = f'figure("{name.removesuffix(".svg")}", ' in RULES
        return drawn or f"/{name}" in RULES or f'"{name}"' in PACKAGE
    if name.endswith(".md"):
        return any(PROJECT.glob(f"extensions/*/prompts/{name}"))
    if "." in name:
        return any(key == name or key.startswith(f"{name}.") for key in KEYS)
    return f'"{name}"' in PACKAGE or re.search(rf"rule (\w+ as )?{name}( as \w+)?( with)?:", RULES) is not None


PARTS = {
    "longform": [*(f"Table {number}" for number in range(1, 8)), *(f"Figure {number}" for number in range(1, 5))],
    "rextime": ["C.2", "C.3", "C.5", "C.6", "C.7", "C.8.1 to C.8.7", "D.1", "D.2", "D.3", "Tables 1 and 2"],
}
PAGES = {
    f"extensions/{name}/README.md": parts for name, parts in PARTS.items() if (PROJECT / "extensions" / name).is_dir()
}
"""Pages of extensions that build a document → its parts."""


@pytest.mark.parametrize("page", PAGES)
def test_what_the_list_names_is_there(page):
    rows = listed(page)
    absent = [name for _, where in rows for name in re.findall(r"`([^`]+)`", where) if not is_there(name)]
    assert len(rows) > 12 and not absent
    assert all("`" in where or "missing" in where for _, where in rows)
    assert [part for part in PAGES[page] if part not in "\n".join(named for named, _ in rows)] == []


def test_a_name_that_is_not_there_is_noticed():
    assert not any(map(is_there, ("mad-9", "verified ground", "longform.no_key", "no.svg", "no.md", "no_rule")))
