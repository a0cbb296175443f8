"""Prompt files: their slots are checked at the start, and values can never reach into the text around them."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.lmm.prompts import quote, read_prompts
from verified.lmm.tasks.paper import PAPER
from verified.lmm.tasks.perturbations import POSITIVES

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
    """No words of the printed formats, and every example in it is JSON that the schema would accept."""
    prompt = read_prompts(FOLDER, [task])[task.name]
    slots = dict.fromkeys(prompt.kinds, "7")
    text = prompt.fill(slots, structured=True)
    assert [words for words in PRINTED_FORMATS if words in text] == []
    for example in re.findall(r"\{.*?\}", text, re.DOTALL):
        assert list(json.loads(example)) == ["1", "2", "3"]
    assert text != prompt.fill(slots) and set(slots) <= set(re.findall(r"(?<!\{)\{(\w+)\}", prompt.structured))
