"""Prompt tasks: declared in one form, each with its prompt, and a new one is asked like those that are there."""

from pathlib import Path

import pytest
from captioning import settings
from stub_engine import StubEngine

from verified.lmm.prompts import read_prompts
from verified.lmm.request import Parsed, Reply
from verified.lmm.session import Session
from verified.lmm.tasks import TEXT, Task, object_schema, structured_form
from verified.lmm.tasks.coarse_caption import COARSE_CAPTION
from verified.lmm.tasks.paper import PAPER
from verified.lmm.tasks.retrieval import GRADE, read_grade

PROMPTS = Path(__file__).resolve().parents[2] / "config/prompts"
TASKS = (*PAPER, GRADE, COARSE_CAPTION)


def test_each_task_has_its_prompt_and_each_prompt_its_task():
    prompts = read_prompts(PROMPTS, TASKS)
    assert len(prompts) == len(TASKS)
    assert set(prompts) == {file.relative_to(PROMPTS).with_suffix("").as_posix() for file in PROMPTS.rglob("*.md")}


def test_schema_ending_and_example_of_each_task_agree():
    for task in TASKS:
        schema, ending = structured_form(task, 2)
        assert all(f'"{name}"' in ending for name in schema["required"]), task.name
        example = task.example(2, "0123456789abcdef")
        assert example.usable and not example.missing, task.name


def test_a_new_task_is_one_declaration_and_one_prompt(tmp_path):
    def read(slots, text, count, cut):
        return Parsed(sections={"title": text}) if text.istitle() else Parsed(missing=1)

    title = Task(
        name="mine/title",
        role="llm",
        slots=("caption",),
        read=read,
        schema=lambda count: object_schema({"title": TEXT}),
        tokens_out=5,
        example=lambda count, identity: Parsed(sections={"title": identity}),
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/title.md").write_text("---\nslots:\n  caption: quoted\n---\nGive {caption} a title.")
    replies = iter(["no title", "A Dog Runs"])
    engine = StubEngine(lambda request, text: Reply(next(replies)))
    for _ in range(2):  # the first answer is asked for again; the second session finds both in the ledger
        with Session(settings(tmp_path, prompts=str(tmp_path)), 1, [title], {"llm": engine}) as session:
            call = session.call(title, {"caption": "a dog runs"})
            (outcome,) = session.ask(title, [call], 1)
        assert (outcome.parsed.sections["title"], outcome.attempts, len(engine.requests)) == ("A Dog Runs", 2, 2)


@pytest.mark.parametrize(
    ("text", "grade"),
    [('{"grade": 7}', "7"), ('{"Grade": "7/10"}', "7"), ("8 / 10", "8"), ("Grade: 3", "3"), ("0", "0")],
)
def test_grades_are_read_from_json_and_from_words(text, grade):
    assert read_grade({}, text, 1, False).sections == {"grade": grade}


@pytest.mark.parametrize("text", ["", "good", "11", '{"grade": true}', "between 3 and 5", '{"grade": -1}'])
def test_an_answer_without_one_grade_is_none(text):
    assert read_grade({}, text, 1, False).missing
