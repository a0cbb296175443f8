"""The report and the study pages of a finished run, as `make report` and `make study` build them."""

import json
import shlex
import shutil
import sys

import pytest
import yaml
from running import NANO, PROJECT, ended_well, options_of, printed

from verified.__main__ import main, parser
from verified.cli.command import COMMANDS
from verified.figures.listed import EXAMPLES, STATISTICS
from verified.io.jsonl import read_json, read_jsonl, write_json
from verified.people.answers import answer_checksum
from verified.people.study.sample import FORM

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reported(nano, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(nano, folder, symlinks=True)
    ended_well(folder, "--cores", "2", "report_items", "study")
    command = [sys.executable, "-m", "verified", "report", "--configfile", str(NANO), "--cores", "2"]
    assert "The report: results/nano/report.html" in printed(command, folder)
    return folder


def test_every_figure_is_there_as_svg_and_png_with_its_numbers(reported):
    figures = reported / "results" / "nano" / "figures"
    names = {*EXAMPLES, *STATISTICS, "predictions", "training", "evaluator-training", "validation"}
    built = {path.name for path in figures.iterdir() if not path.name.endswith(".checksums")}
    assert built == {f"{name}.{end}" for name in names for end in ("svg", "png", "csv")}
    assert all("<text" not in path.read_text(encoding="utf-8") for path in figures.glob("*.svg"))


def test_the_report_holds_its_story_and_its_parts_in_one_file(reported):
    text = (reported / "results" / "report.html").read_text(encoding="utf-8")
    for words in ("rebuilt: nano", "stages against its truth", "caption browser", "Ranked predictions", "supp-6"):
        assert words in text


def test_answers_of_a_study_reach_the_tables(reported):
    study = reported / "results" / "nano" / "study"
    key = json.loads((study / "key.json").read_text(encoding="utf-8"))
    files = []
    for participant, numbers in enumerate(key["participants"], start=1):
        answers = []
        for number in numbers:
            answer = {"question": number, "statics": 1, "dynamics": number % 2, "accuracy": 4}
            answers.append(answer | {"check": answer_checksum(FORM, key["study"], participant, answer)})
        files.append(str(reported / f"answers-{participant}.json"))
        write_json(files[-1], {"study": key["study"], "participant": participant, "answers": answers})
    assert main(["study", "--collect", *files, "--key", str(study / "key.json")]) == 0
    ended_well(reported, "--cores", "2", "results/tables")
    table = (reported / "results" / "tables" / "main-3.md").read_text(encoding="utf-8")
    assert "4.00 [4.00, 4.00]" in table and "participants, one verdict per caption" in table


@pytest.mark.night
def test_the_examples_of_the_help_run(reported, monkeypatch, capsys):
    parser()  # imports the modules that declare commands
    monkeypatch.chdir(reported)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (reported / "examples").symlink_to(PROJECT / "examples")
    examples = {}
    for words, command in COMMANDS.items():
        if "#" in command.example:
            continue  # it needs files of the reader
        example = shlex.split(command.example.replace("config/config.yaml", str(NANO)).replace("demo", "nano"))[1:]
        if "--configfile" in options_of(words) and "--configfile" not in example:
            example += ["--configfile", str(NANO)]
        examples[words] = example
    early = {words: example for words, example in examples.items() if main(example) not in (0, None)}
    for words, example in early.items():  # it reads files that the example of another command makes
        assert main(example) in (0, None), (words, capsys.readouterr())


# The last test of the fixture: it changes the annotations.
def test_a_threshold_selects_and_an_export_holds_what_is_left(reported):
    base = reported / "results" / "nano"
    chosen = {"min_quantile": 0.3, "best": 2, "otherwise": "coarse"}
    layer = {"annotations": chosen, "export": {"forms": ["hugging-face"]}}
    (reported / "layer.yaml").write_text(yaml.safe_dump(layer), encoding="utf-8")
    targets = ["export", "results/nano/figures/annotations.svg"]
    ended_well(reported, str(reported / "layer.yaml"), "--cores", "2", *targets)

    captions = 0
    for split in ("train", "val", "test"):
        rows = read_jsonl(base / f"annotations/fig/{split}.jsonl")
        selection = read_json(base / f"annotations/selection/{split}.json")
        below = [row for row in rows if row["fig_desc_score"] < selection["min_score"]]
        assert len(below) == int(0.3 * len(rows)) == selection["counts"]["fell-back"]
        assert [row for row in rows if row["fig_desc_type"] == "coarse"] == below
        further = [entry for row in rows for entry in row.get("further", ())]
        assert all(entry["fig_desc_score"] >= selection["min_score"] for entry in further)
        captions += len(rows) + len(further)
    manifest = read_json(base / "export" / "hugging-face" / "manifest.json")
    assert sum(split["captions"] for split in manifest["splits"].values()) == captions
