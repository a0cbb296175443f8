"""Cassettes written by hand answer by caption and task, under their own name."""

import csv
from pathlib import Path

import pytest

from verified.config.generation import EngineSettings, Generation
from verified.lmm.cassette import read_answers
from verified.lmm.engines import make_engine
from verified.lmm.request import Request
from verified.lmm.tasks.dynamics import ANSWERS
from verified.lmm.tasks.paper import PAPER
from verified.lmm.tasks.perturbations import POSITIVES
from verified.lmm.tasks.statics import KEYFRAME_DESCRIPTION

WRITTEN = """
a dog runs:
  keyframe_description: {background: a beach, objects attributes: a brown dog, desc: a brown dog runs on a beach}
  answers: {answers: [to the left], description: the dog runs to the left}
  positives: [a dog is running, "a dog, running"]
"""


@pytest.fixture
def made(tmp_path):
    """The engine of a cassette with these answers."""
    (tmp_path / "written.yaml").write_text(WRITTEN, encoding="utf-8")
    role = EngineSettings(engine="cassette", model="hand-written", cassette=str(tmp_path / "written.yaml"))
    return make_engine(role, Generation())


def test_answers_are_found_by_caption_and_task_and_can_be_read(made):
    replies = {
        task: next(iter(made.answer([Request(task.name, "", {"caption": "a dog runs"})])))
        for task in (KEYFRAME_DESCRIPTION, ANSWERS, POSITIVES)
    }
    frame = KEYFRAME_DESCRIPTION.read({"caption": "a dog runs"}, replies[KEYFRAME_DESCRIPTION].text, 1, False)
    assert frame.sections["foreground"] == "a brown dog" and not frame.missing
    answers = ANSWERS.read({"caption": "a dog runs"}, replies[ANSWERS].text, 1, False)
    assert answers.items == ("to the left",) and answers.sections["description"] == "the dog runs to the left"
    assert POSITIVES.read({"caption": "a dog runs"}, replies[POSITIVES].text, 2, False).items == (
        "a dog is running",
        "a dog, running",
    )


def test_an_answer_that_was_not_written_is_an_error(made):
    for task, caption in (("positives", "a cat runs"), ("questions", "a dog runs")):
        (reply,) = made.answer([Request(task, "", {"caption": caption})])
        assert reply.finish == "error" and reply.reason == "not-on-cassette" and not reply.text


def test_the_cassette_of_the_real_clips_has_an_answer_to_everything_that_is_asked():
    examples = Path(__file__).resolve().parents[2] / "examples" / "real"
    with (examples / "moments.csv").open(encoding="utf-8", newline="") as file:
        captions = {row["caption"] for row in csv.DictReader(file)}
    answers = read_answers(examples / "hand-written.yaml")
    assert set(answers) == captions
    assert {frozenset(tasks) for tasks in answers.values()} == {frozenset(task.name for task in PAPER)}
