"""What planning reads of a model's file, and what `register` refuses because planning could not read it."""

import sys

import pytest

from verified.benchmark.vcmr import registry
from verified.config import retrieval
from verified.errors import InputError

HEAD = """
from typing import ClassVar
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import register
"""
ONE = HEAD + '@register("one")\nclass One(RetrievalModel):\n    """Nothing of its own."""\n'
TWO = HEAD + '@register("two")\nclass Two(RetrievalModel):\n    two_stage: ClassVar[bool] = True\n'
THREE = (
    "from verified.benchmark.vcmr.models.two import Two as Base\n"
    "from verified.benchmark.vcmr.registry import register\n"
    'class Between(Base):\n    pass\n\n@register("three")\nclass Two(Between):\n    pass\n'
)
FOUR = (
    "from verified.benchmark.vcmr.models import three\nfrom verified.benchmark.vcmr.registry import register\n"
    '@register("four")\nclass Four(three.Two):\n    pass\n'
)
FIVE = FOUR.replace("four", "five").replace("    pass", "    two_stage = False")
SIX = (
    "from .two import Two\nfrom verified.benchmark.vcmr.registry import register\n"
    "@register('six')\nclass Six(Two): ...\n"
)

TEXTS = {"one": ONE, "two": TWO, "three": THREE, "four": FOUR, "five": FIVE, "six": SIX}


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder of models in the place of the project's."""
    from verified.benchmark.vcmr import models as package

    for module in (registry, retrieval):
        monkeypatch.setattr(module, "MODELS", {package.__name__: tmp_path})
    monkeypatch.setattr(registry, "_CLASSES", {})
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(package.__name__):
            del sys.modules[name]
            vars(package).pop(name.rpartition(".")[2], None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("one", False), ("two", True), ("three", True), ("four", True), ("five", False), ("six", True)],
)
def test_planning_and_the_class_agree_however_two_stage_is_written_or_inherited(models, name, expected):
    for other, text in TEXTS.items():
        (models / f"{other}.py").write_text(text)
    assert registry.is_two_stage(name) is expected
    assert registry.model_class(name).two_stage is expected


@pytest.mark.parametrize(
    "body",
    ["    two_stage = not False", "    if True:\n        two_stage = True", "    locals()['two_stage'] = True"],
)
def test_a_class_whose_kind_cannot_be_planned_by_is_refused_with_file_and_remedy(models, body):
    (models / "odd.py").write_text(HEAD + f'@register("odd")\nclass Odd(RetrievalModel):\n{body}\n')
    assert not registry.is_two_stage("odd")
    with pytest.raises(InputError) as refused:
        registry.model_class("odd")
    assert refused.value.file.endswith("odd.py") and "two_stage = True" in refused.value.remedy


def test_a_file_of_ones_own_is_held_to_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieval, "MODELS", {"mine": tmp_path})
    monkeypatch.setattr(registry, "_CLASSES", {})
    file = tmp_path / "mine.py"
    file.write_text(HEAD + '@register("mine")\nclass Mine(RetrievalModel):\n    two_stage = 1 > 0\n')
    with pytest.raises(InputError) as refused:
        registry.model_of_file(file)
    assert refused.value.file == str(file) and refused.value.remedy
