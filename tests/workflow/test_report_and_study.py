"""The report and the study pages of a finished run, as `make report` and `make study` build them."""

import json
import shutil
import subprocess
import sys

import pytest
from running import NANO, digests, snakemake

from verified.__main__ import main
from verified.common.jsonl import write_json
from verified.figures.paths import EXAMPLES, RECALLS, STATISTICS
from verified.study.answers import answer_checksum


@pytest.fixture(scope="module")
def reported(nano, tmp_path_factory):
    """A copy of the finished run with report and study pages."""
    folder = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(nano, folder, symlinks=True)
    run = snakemake(folder, "--cores", "2", "report_items", "study")
    assert run.returncode == 0, run.stdout[-6000:]
    command = [sys.executable, "-m", "verified", "report", "--configfile", str(NANO), "--cores", "2"]
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0 and "The report: results/nano/report.html" in run.stdout, run.stdout[-6000:]
    return folder


def test_every_figure_is_there_as_svg_and_png(reported):
    figures = reported / "results" / "nano" / "figures"
    names = {*EXAMPLES, *RECALLS, *STATISTICS, "predictions", "training", "validation", "evaluator-training"}
    built = {path.name for path in figures.iterdir() if not path.name.endswith(".seal")}
    assert built == {f"{name}.{end}" for name in names for end in ("svg", "png")}
    assert all("<text" not in path.read_text(encoding="utf-8") for path in figures.glob("*.svg"))


def test_the_report_holds_its_story_and_its_parts_in_one_file(reported):
    text = (reported / "results" / "report.html").read_text(encoding="utf-8")
    for words in ("configuration nano", "stages against its truth", "caption browser", "Ranked predictions", "supp-6"):
        assert words in text


def test_report_pages_have_the_same_bytes_when_they_are_made_again(reported):
    built = reported / "results" / "nano"
    before = digests(reported)
    for name in ("figures", "report"):
        shutil.rmtree(built / name)
    run = snakemake(reported, "--cores", "2", "report_items")
    assert run.returncode == 0, run.stdout[-6000:]
    after = digests(reported)
    changed = {path for path in before if before[path] != after.get(path)}
    assert not {path for path in changed if path.startswith(("results/nano/figures/", "results/nano/report/"))}


def test_answers_of_a_study_reach_the_tables(reported):
    study = reported / "results" / "nano" / "study"
    key = json.loads((study / "key.json").read_text(encoding="utf-8"))
    files = []
    for participant, numbers in enumerate(key["participants"], start=1):
        answers = []
        for number in numbers:
            answer = {"question": number, "statics": 1, "dynamics": number % 2, "accuracy": 4}
            answers.append(answer | {"check": answer_checksum(key["study"], participant, answer)})
        files.append(str(reported / f"answers-{participant}.json"))
        write_json(files[-1], {"study": key["study"], "participant": participant, "answers": answers})
    assert main(["study", "import", *files, "--study", str(study)]) == 0
    run = snakemake(reported, "--cores", "2", "results/tables")
    assert run.returncode == 0, run.stdout[-6000:]
    table = (reported / "results" / "tables" / "main-3.md").read_text(encoding="utf-8")
    assert "4.00 [4.00, 4.00]" in table and "participants, one verdict per caption" in table
