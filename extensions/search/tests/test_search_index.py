"""`verified index` on a finished run, as a user gives it: the rule, the commands, a second time."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import NANO, PROJECT

from verified.io.jsonl import read_json, read_jsonl

pytestmark = pytest.mark.slow

INDEX = "results/nano/search/xml"
CAPTIONS = "results/nano/annotations/fig/test.jsonl"


def verified(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "verified", *arguments, "--configfile", str(NANO)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def indexed(nano, tmp_path_factory):
    """(a copy of the finished run with its index, what `verified index` said)."""
    folder = tmp_path_factory.mktemp("indexed") / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    built = verified(folder, "index", "--cores", "2")
    assert built.returncode == 0, built.stdout + built.stderr
    return folder, built


def test_the_command_builds_the_index_and_nothing_else(indexed):
    folder, built = indexed
    said = built.stdout + built.stderr
    assert "12 videos of Nano-FIG, 120 clips of 1 s, by xml" in built.stdout
    assert set(re.findall(r"^(?:local)?rule (\w+):", said, re.MULTILINE)) == {"build_search_index"}
    record = read_json(folder / f"{INDEX}.json")
    assert (record["model"], record["videos"], record["clips"]) == ("xml", 12, 120)
    again = verified(folder, "index", "--cores", "2")
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr


def test_a_sentence_is_answered_from_the_run(indexed):
    folder, _ = indexed
    caption = read_jsonl(folder / CAPTIONS)[0]
    asked = verified(folder, "search", caption["fig_desc"], "--json", "--top", "5")
    answer = json.loads(asked.stdout)
    assert len(answer["moments"]) == 5 and answer["query"] == caption["fig_desc"]
    assert all(0 <= one["start"] < one["end"] <= 10 and one["caption"]["fine"] for one in answer["moments"])
