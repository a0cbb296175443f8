"""The writers of pages and exports of questions, killed before each change of a file, and repeated."""

import pytest
from faults.test_kill_points import place, start  # noqa: F401
from kill_points import finished_by_repeating
from question_pages import QUESTIONS
from script_run import script_run
from test_export_questions import question
from whole_videos import write_small_video

from verified.__main__ import main
from verified.config import load
from verified.io.jsonl import write_jsonl
from verified_rextime.jobs import card_facts

pytestmark = pytest.mark.night


def test_pages(start, place, record_property):  # noqa: F811
    write_small_video(start / "videos" / "one.mp4")
    write_jsonl(start / "questions.jsonl", [{**row, "vid": "one"} for row in QUESTIONS])
    command = (
        "rextime questions questions.jsonl --tool verify --videos videos --output out --items-per-page 2 --side 64"
    )

    def run():
        assert main(command.split()) == 0

    kills = finished_by_repeating(start, place, run)
    record_property("faults", kills)
    assert kills > 3 and len(list(place.rglob("*.html"))) == 2


def test_an_export_of_questions(start, place, record_property):  # noqa: F811
    for split in ("train", "val"):
        write_jsonl(start / f"{split}.jsonl", [question(number, split) for number in range(3)])
    source = {"form": "captions", "annotations": "captions.json"}
    settings = load({"name": "across", "rextime": {"sources": {"c": source}, "licence": "CC-BY-NC-SA-4.0"}})
    out = "results/across/rextime/export/hugging-face"
    run = script_run(
        "extensions/rextime/scripts/export_questions.py",
        "export_questions",
        input={"questions": ["train.jsonl", "val.jsonl"]},
        output={"folder": out},
        params={"about": card_facts(settings)},
        wildcards={},
    )
    kills = finished_by_repeating(start, place, run)
    record_property("faults", kills)
    assert kills > 3 and (place / out / "croissant.json").is_file()
