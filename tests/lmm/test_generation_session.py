"""A job's session: unanswered calls, models that take turns, and prompt tasks, among them a new one."""

from importlib import import_module
from pathlib import Path

import pytest
from captioning import settings
from stub_engine import StubEngine

from verified.config.engines import ENGINES
from verified.lmm.prompts import read_prompts
from verified.lmm.session import Session
from verified.lmm.tasks import structured_form
from verified.lmm.tasks.paper import PAPER


class Loaded(StubEngine):
    """A stub with a share of the GPU's memory that notes when it is loaded and unloaded."""

    def __init__(self, name, share, diary):
        super().__init__(model=name)
        self.gpu_share, self.diary = share, diary

    def answer(self, requests):
        for request in requests:
            if self.model not in self.diary.memory:
                self.diary.memory.add(self.model)
                self.diary.append(f"load {self.model}")
            yield from super().answer([request])

    def release(self):
        if self.model in self.diary.memory:
            self.diary.memory.remove(self.model)
            self.diary.append(f"unload {self.model}")


class Diary(list):
    def __init__(self):
        super().__init__()
        self.memory = set()


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.9, ["load seer", "unload seer", "load writer"]),
        (0.5, ["load seer", "load writer"]),
    ],
)
def test_models_that_do_not_fit_together_take_turns(tmp_path, share, expected):
    from captioning import make_moments, make_tar

    from verified.captions.statics import caption_statics
    from verified.keyframes.archive import KeyframeTar
    from verified.lmm.tasks.statics import TASKS

    moments = make_moments(["a dog runs", "a cat sits"])
    diary = Diary()
    engines = {"image_lmm": Loaded("seer", share, diary), "llm": Loaded("writer", share, diary)}
    with KeyframeTar(make_tar(tmp_path / "k.tar", moments)) as tar, Session(settings(tmp_path), 1, TASKS, engines) as s:
        caption_statics(moments, tar, s)
        assert diary == expected
        caption_statics(moments, tar, s)  # all in the ledger: nothing is loaded or unloaded
        assert diary == expected


PROMPTS = Path(__file__).resolve().parents[2] / "config/prompts"


def test_each_task_has_its_prompt_and_each_prompt_its_task():
    prompts = read_prompts(PROMPTS, PAPER)
    assert len(prompts) == len(PAPER)
    assert set(prompts) == {file.relative_to(PROMPTS).with_suffix("").as_posix() for file in PROMPTS.rglob("*.md")}


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
