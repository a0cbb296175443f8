"""Prompts and tasks: slots, structured forms, models that take turns, and answers that were written by hand."""

import csv
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from captioning import make_moments, make_tar, settings
from hypothesis import given
from hypothesis import strategies as st
from stub_engine import StubEngine

from verified.captions.statics import caption_statics
from verified.config.engines import ENGINES
from verified.config.generation import EngineSettings, Generation
from verified.keyframes.archive import KeyframeTar
from verified.lmm.cassette import read_answers
from verified.lmm.engines import make_engine
from verified.lmm.prompts import quote, read_prompts
from verified.lmm.request import Request
from verified.lmm.session import Session
from verified.lmm.tasks import structured_form
from verified.lmm.tasks.dynamics import ANSWERS
from verified.lmm.tasks.paper import PAPER
from verified.lmm.tasks.perturbations import POSITIVES
from verified.lmm.tasks.statics import KEYFRAME_DESCRIPTION, TASKS

FOLDER = Path(__file__).resolve().parents[2] / "config" / "prompts"


@given(st.text(max_size=200))
def test_filling_is_one_pass(text):
    prompt = read_prompts(FOLDER, [POSITIVES])["positives"]
    mark = "\x00mark\x00"
    around = prompt.fill({"caption": mark, "count": "3"}).split(quote(mark))
    assert prompt.fill({"caption": text, "count": "3"}) == quote(text).join(around)


PRINTED_FORMATS = ("1. ...", "original", "Background:", "Desc:", ", numbered:", "leave an empty line", '1. "')


@pytest.mark.parametrize("task", PAPER, ids=lambda task: task.name)
def test_a_structured_prompt_asks_for_one_form_of_answer(task):
    prompt = read_prompts(FOLDER, [task])[task.name]
    slots = dict.fromkeys(prompt.kinds, "7")
    text = prompt.fill(slots, structured=True)
    assert [words for words in PRINTED_FORMATS if words in text] == []
    for example in re.findall(r"\{.*?\}", text, re.DOTALL):
        assert list(json.loads(example)) == ["1", "2", "3"]
    assert text != prompt.fill(slots) and set(slots) <= set(re.findall(r"(?<!\{)\{(\w+)\}", prompt.structured))


class Loaded(StubEngine):
    """A stub with a share of the GPU's memory that notes when it is loaded and unloaded."""

    def __init__(self, name, share, diary):
        super().__init__(model=name)
        self.gpu_share, self.diary = share, diary

    def is_loaded(self):
        return self.diary.count(f"load {self.model}") > self.diary.count(f"unload {self.model}")

    def answer(self, requests):
        for request in requests:
            if not self.is_loaded():
                self.diary.append(f"load {self.model}")
            yield from super().answer([request])

    def release(self):
        if self.is_loaded():
            self.diary.append(f"unload {self.model}")


@pytest.mark.parametrize(
    ("share", "expected"), [(0.9, ["load seer", "unload seer", "load writer"]), (0.5, ["load seer", "load writer"])]
)
def test_models_that_do_not_fit_together_take_turns(tmp_path, share, expected):
    moments = make_moments(["a dog runs", "a cat sits"])
    diary = []
    engines = {"image_lmm": Loaded("seer", share, diary), "llm": Loaded("writer", share, diary)}
    with KeyframeTar(make_tar(tmp_path / "k.tar", moments)) as tar, Session(settings(tmp_path), 1, TASKS, engines) as s:
        caption_statics(moments, tar, s)
        assert diary == expected
        caption_statics(moments, tar, s)  # all in the ledger: nothing is loaded or unloaded
        assert diary == expected


def test_schema_ending_and_example_of_each_task_agree():
    for task in PAPER:
        schema, ending = structured_form(task, 2)
        assert all(f'"{name}"' in ending for name in schema["required"]), task.name
        example = task.example(2, "0123456789abcdef")
        assert example.usable and not example.missing, task.name


ENVS = Path(__file__).resolve().parents[2] / "envs"


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_of_the_list_can_be_made_and_has_that_name(name):
    kind = ENGINES[name]
    module = import_module(kind.module)
    made = module.make.__annotations__["return"]
    assert (getattr(module, made) if isinstance(made, str) else made).name == name
    assert kind.environment is None or (ENVS / f"{kind.environment}.yaml").is_file()


WRITTEN = """
a dog runs:
  keyframe_description: {background: a beach, objects attributes: a brown dog, desc: a brown dog runs on a beach}
  answers: {answers: [to the left], description: the dog runs to the left}
  positives: [a dog is running, "a dog, running"]
"""


@pytest.fixture
def made(tmp_path):
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
