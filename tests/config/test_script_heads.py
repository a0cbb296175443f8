"""Heads of the entry scripts: each says in which rule file its rule is."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(file for file in (PROJECT / "scripts").glob("*/*.py") if file.parent.name != "verified")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_names_the_file_of_its_rule(script):
    named = re.search(r"\(see (rules/\w+\.smk)\)", script.read_text(encoding="utf-8").splitlines()[0])
    assert named, "the first line ends in (see rules/STAGE.smk)"
    assert f'"../scripts/{script.parent.name}/{script.name}"' in (PROJECT / named[1]).read_text(encoding="utf-8")
