"""The published figures and the verdict on each."""

import re
from collections import Counter
from pathlib import Path

import pytest
from running import PROJECT

from verified.__main__ import parser
from verified.benchmark.published import plain, read_published, rounding, verdict_of
from verified.cli.command import COMMANDS
from verified.config.key_table import key_table

FILE = Path(__file__).resolve().parents[2] / "config" / "published.csv"


def test_every_published_figure_is_in_the_file():
    assert len(read_published(FILE, "verified")) == 1226
    movies = Counter(place.table for place in read_published(FILE, "mad"))
    assert movies == {"mad-1": 50, "mad-2": 48, "mad-3": 21, "mad-4": 18, "mad-5": 18, "mad-6": 18, "mad-7": 20}
    questions = Counter((place.table, place.test) for place in read_published(FILE, "rextime"))
    assert questions == {("rextime-1", kind): 18 for kind in ("full", "mini")} | {
        ("rextime-2", kind): 16 for kind in ("full", "mini")
    }


@pytest.mark.parametrize(
    "low, high, trainings, verdict",
    [
        (19.6, 20.9, 3, "reproduced"),
        (21.5, 23.0, 3, "differs"),
        (16.0, 18.5, 3, "differs"),
        (19.6, 21.5, 3, "cannot tell"),
        (5.0, 35.0, 3, "cannot tell"),
        (19.9, 20.1, 1, "cannot tell"),
        (30.0, 31.0, 1, "cannot tell"),
    ],
)
def test_noise_reproduces_nothing(low, high, trainings, verdict):
    assert verdict_of(20.0, (low + high) / 2, 1.0, low, high, trainings) == verdict


@pytest.mark.parametrize(
    "value, verdict", [(6.2149, "reproduced"), (6.205, "reproduced"), (6.2151, "differs"), (None, "not attempted")]
)
def test_without_noise_rounding_decides(value, verdict):
    assert verdict_of(plain("6.21"), value, rounding("6.21")) == verdict


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
def test_every_published_figure_listed_is_there(page):
    rows = listed(page)
    absent = [name for _, where in rows for name in re.findall(r"`([^`]+)`", where) if not is_there(name)]
    assert len(rows) > 12 and not absent
    assert all("`" in where or "missing" in where for _, where in rows)
    assert [part for part in PAGES[page] if part not in "\n".join(named for named, _ in rows)] == []
