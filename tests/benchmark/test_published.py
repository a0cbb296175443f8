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
        (20.2, 21.5, 3, "cannot tell"),
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


CODE = ("rules/*.smk", "extensions/*/rules.smk", "scripts/verified/**/*.py", "extensions/*/verified_*/**/*.py")
TEXT = key_table() + "\n".join(path.read_text() for pattern in CODE for path in sorted(PROJECT.glob(pattern)))
parser()  # imports all modules that declare commands
SECTION = re.compile(r"## What of the (?:paper|document) is where\n(.+?)\n## ", re.DOTALL)


def is_there(name: str) -> bool:
    """Whether a command, prompt, key, rule, figure or file of this name is anywhere in the workflow."""
    if name.startswith("verified "):
        return name.removeprefix("verified ") in COMMANDS
    if name.endswith(".md"):
        return any(PROJECT.glob(f"extensions/*/prompts/{name}"))
    return re.search(rf"[\"'/` .]{re.escape(name.removesuffix('.svg'))}\b", TEXT) is not None


READMES = sorted(PROJECT.glob("extensions/*/README.md"))
LISTS = {path.parent.name: found[1] for path in READMES if (found := SECTION.search(path.read_text(encoding="utf-8")))}
"""By extension that builds a document: the list of its parts."""


@pytest.mark.parametrize("name", LISTS)
def test_every_published_figure_listed_is_there(name):
    places = re.findall(r"^\| (?!of the |---).+? \| (.+) \|$", LISTS[name], re.MULTILINE)
    absent = [name for place in places for name in re.findall(r"`([^`]+)`", place) if not is_there(name)]
    assert len(places) > 10 and not absent
    assert all("`" in place or "missing" in place for place in places)
