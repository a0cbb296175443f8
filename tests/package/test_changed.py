"""Tools of these tests: `--changed`, planted mistakes, and the files that jobs read."""

import os
import subprocess
import sys
from collections import Counter

import h5py
import pytest
from changed import EXTENSIONS, PROJECT, TESTS, changed_files, distance, is_reached
from planted_mistakes import read_mistakes, tests_of
from reads import noting, undeclared


@pytest.mark.parametrize(
    ("edited", "test", "reached"),
    [
        ("scripts/verified/benchmark/tiou.py", "benchmark/test_tiou.py", True),
        ("scripts/verified/benchmark/tiou.py", "vcmr/test_evaluate.py", True),  # through other modules
        ("scripts/verified/benchmark/vcmr/models/xml.py", "vcmr/test_conformance.py", True),  # imported by its name
        ("scripts/verified/benchmark/vcmr/models/xml.py", "statistics/test_summaries.py", False),
        ("scripts/verified/cli/maintain.py", "people/test_answers.py", True),  # by the command line
        ("scripts/verified/annotations/show.py", "annotations/test_show.py", True),  # by a command of that module
        ("tests/planted.py", "vcmr/test_training.py", True),
        ("rules/retrieval.smk", "workflow/test_nano.py", True),
        ("rules/retrieval.smk", "vcmr/test_training.py", False),
        ("scripts/verified/people/pages/study.js", "people/test_answers.py", True),
        ("config/published.csv", "benchmark/test_published.py", True),  # a file by its name
        ("tests/evaluator/conftest.py", "evaluator/test_umt_parity.py", True),
        ("conftest.py", "io/test_text_tables.py", True),
        ("scripts/verified/export/hugging_face.py", "export/test_export_forms.py", True),
        ("scripts/verified/benchmark/vcmr/experiment.py", "planning/test_stages.py", True),  # in a function
        ("scripts/verified/captions/counts.py", "captions/test_dynamics.py", True),  # by a job script
        ("scripts/verified/features/weights/classes.json", "annotations/test_agreement.py", True),  # data
        ("scripts/verified/lmm/ledger_files.py", "nn/test_bert.py", False),  # by type checkers alone
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


LISTED = read_mistakes(TESTS / "planted_mistakes.yaml")
tests_of.__test__ = False


@pytest.mark.parametrize("row", LISTED, ids=lambda row: f"{row.room}: {row.mistake}")
def test_a_mistake_can_be_planted_in_one_place(row):
    text = (PROJECT / row.file).read_text(encoding="utf-8")
    assert text.count(row.before) == 1 and row.after != row.before
    assert any(TESTS.glob(f"{row.room}/test_*.py")) or any(PROJECT.glob(f"extensions/{row.room}/tests/test_*.py"))


def test_tests_of_the_room_come_first_and_the_nearest_of_them():
    in_room, others = tests_of("scripts/verified/benchmark/tiou.py", "vcmr")
    assert {test.parent.name for test in in_room} == {"vcmr"}
    far = [distance(test, PROJECT / "scripts/verified/benchmark/tiou.py") for test in others]
    assert far == sorted(far) and TESTS / "benchmark" / "test_tiou.py" in others[: far.count(1)]
    assert not set(in_room) & set(others)


def test_no_mistake_is_listed_twice():
    assert max(Counter((row.file, row.before, row.after) for row in LISTED).values()) == 1


WORKFLOW = """
rule read:
    input: "given", videos="seven.videos.jsonl"
    output: "made"
    script: "read.py"
"""
SCRIPT = """
import subprocess, sys
import h5py
files = ["given", "other", "film.mp4", "results/ledger/part", "seven.videos.jsonl"]
subprocess.run([sys.executable, "-c", "open('by-child').read()"], check=True)
h5py.File("features.h5").close()
with open("scratch", "w") as file:
    file.write("own")
with open("made", "w") as file:
    file.write("".join(open(name).read() for name in [*files, "scratch"]))
"""


def test_a_file_that_a_job_reads_and_does_not_declare_is_noticed(tmp_path):
    (tmp_path / "results" / "ledger").mkdir(parents=True)
    for name in ("given", "other", "film.mp4", "by-child", "results/ledger/part"):
        (tmp_path / name).touch()
    (tmp_path / "seven.videos.jsonl").write_text('{"path": "film.mp4", "sha256": "7"}\n')
    h5py.File(tmp_path / "features.h5", "w").close()
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    (tmp_path / "read.py").write_text(SCRIPT)
    (tmp_path / "notes").mkdir()
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, env=noting(str(tmp_path / "notes"), os.environ))
    read = undeclared(tmp_path / "notes")
    assert read == {("read", str(tmp_path / name)) for name in ("other", "by-child", "features.h5")}
