"""Entry scripts: each says in which rule file its rule is, and sees the params of that rule alone."""

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


def test_each_rule_states_the_code_of_its_own_script():
    rules = "\n".join(file.read_text(encoding="utf-8") for file in sorted((PROJECT / "rules").glob("*.smk")))
    stated = re.findall(r'code=code_of\("(.+)"\),|script:\n +"\.\./scripts/(.+)"', rules)
    assert len(stated) % 2 == 0
    assert all(code and code == script for (code, _), (_, script) in zip(stated[::2], stated[1::2]))


def test_no_script_reads_the_whole_configuration():
    assert not [script for script in SCRIPTS if "snakemake.config" in script.read_text(encoding="utf-8")]


def test_rules_pass_sections_by_their_marks_and_no_copies_of_them():
    rules = [PROJECT / "Snakefile", *PROJECT.glob("rules/*.smk"), *PROJECT.glob("extensions/*/rules.smk")]
    assert not [file for file in rules if "model_dump" in file.read_text(encoding="utf-8")]


def test_scripts_get_sections_as_their_rules_pass_them():
    scripts = [*SCRIPTS, *PROJECT.glob("extensions/*/scripts/*.py")]
    section = re.compile(r"\b(?!SourceFile)[A-Z]\w+\(\*\*(?:snakemake\.)?(?:params|settings)\b")
    assert not [script for script in scripts if section.search(script.read_text(encoding="utf-8"))]
