"""`--changed`: an edit selects the tests that import the edited file, however indirectly, and no others."""

import subprocess

import pytest
from changed import EXTENSIONS, PROJECT, TESTS, changed_files, is_reached

from verified.runtime.imports import PACKAGE, Module, find, source


@pytest.mark.parametrize(
    ("edited", "test", "reached"),
    [
        ("scripts/verified/benchmark/tiou.py", "benchmark/test_tiou.py", True),
        ("scripts/verified/benchmark/tiou.py", "vcmr/test_evaluate.py", True),  # through other modules
        ("scripts/verified/benchmark/tiou.py", "io/test_text_tables.py", False),
        ("scripts/verified/benchmark/vcmr/models/xml.py", "vcmr/test_conformance.py", True),  # imported by its name
        ("scripts/verified/benchmark/vcmr/models/xml.py", "statistics/test_many_to_many.py", False),
        ("scripts/verified/cli/maintain.py", "people/test_answers.py", True),  # by the command line
        ("scripts/verified/annotations/show.py", "annotations/test_show.py", True),  # by a command of that module
        ("scripts/verified/annotations/show.py", "people/test_answers.py", False),
        ("tests/planted.py", "vcmr/test_training.py", True),
        ("tests/planted.py", "vcmr/test_decode.py", False),
        ("rules/retrieval.smk", "workflow/test_nano.py", True),
        ("rules/retrieval.smk", "vcmr/test_training.py", False),
        ("scripts/verified/people/pages/study.js", "people/test_answers.py", True),
        ("scripts/verified/people/pages/study.js", "io/test_text_tables.py", False),
        ("config/published.csv", "benchmark/test_published.py", True),  # a file by its name
        ("tests/evaluator/conftest.py", "evaluator/test_umt_parity.py", True),
        ("conftest.py", "io/test_text_tables.py", True),
        ("scripts/verified/export/hugging_face.py", "export/test_export_forms.py", True),
        ("scripts/verified/captions/preflight.py", "planning/test_stages.py", True),  # in a function
        ("scripts/verified/captions/preflight.py", "vcmr/test_decode.py", False),
        ("scripts/verified/captions/counts.py", "captions/test_outcomes.py", True),  # by a job script
        ("scripts/verified/captions/counts.py", "captions/test_statics.py", False),
        ("scripts/verified/features/weights/classes.json", "annotations/test_agreement.py", True),  # data
        ("scripts/verified/features/weights/classes.json", "vcmr/test_decode.py", False),
        ("scripts/verified/lmm/ledger_files.py", "vcmr/test_decode.py", False),  # by type checkers alone
    ],
)
def test_an_edit_reaches_what_imports_it(edited, test, reached):
    assert (PROJECT / edited).is_file() and (TESTS / test).is_file()
    assert is_reached(TESTS / test, {PROJECT / edited}) == reached


def test_a_module_of_an_extension_reaches_its_own_tests():
    for folder in EXTENSIONS:
        for module in folder.glob("verified_*/**/*.py"):
            assert any(is_reached(test, {module}) for test in folder.glob("tests/test_*.py")), module
            assert not is_reached(TESTS / "workflow" / "test_nano.py", {module}), module


def test_what_an_extension_imports_in_functions_reaches_its_tests_of_commands():
    reached = 0
    for folder in EXTENSIONS:
        modules = [find(name) for name in source(Module(folder / "extension.py")).modules]
        edited = [found.file for found in modules if found and found.file.is_relative_to(folder)]
        for test in folder.glob("tests/test_*.py"):
            if is_reached(test, {PACKAGE / "__main__.py"}):
                assert all(is_reached(test, {file}) for file in edited), test
                reached += len(edited)
    assert reached > 20


def test_changed_are_files_of_this_branch_and_those_that_git_does_not_know(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("kept", "edited", "theirs"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "branch")
    (tmp_path / "committed").touch()
    git("add", ".")
    git("commit", "-m", "second")
    git("checkout", "main")
    (tmp_path / "theirs").write_text("other")
    git("commit", "-am", "third")
    git("checkout", "branch")
    (tmp_path / "edited").write_text("other")
    (tmp_path / "new").touch()
    assert {path.name for path in changed_files(tmp_path, "main")} == {"committed", "edited", "new"}
