"""Raw answers as models give them, with the items that may be taken of each."""

import json
from pathlib import Path

import pytest

from verified.lmm.tasks.coarse_caption import COARSE_CAPTION
from verified.lmm.tasks.paper import PAPER
from verified.lmm.thoughts import separate

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "answers" / "answers.json").read_text(encoding="utf-8"))
TASKS = {task.name: task for task in (*PAPER, COARSE_CAPTION)}


ZH = ["一个男人打开门。", "昏暗的走廊里有一扇门。", "门外站着一个人。"]
EN = ["A man opens it.", "A dog waits.", "A bell rings."]


@pytest.mark.parametrize(
    ("form", "items"),
    [
        ("1、{}\n2、{}\n3、{}", ZH),
        ("１．{}\n２．{}\n３．{}", ZH),
        ("1、{}2、{}3、{}", ZH),
        ("（1）{}\n（2）{}\n（3）{}", ZH),
        ("①{}\n②{}\n③{}", ZH),
        ("① {} ② {} ③ {}", EN),
        ("一、{}\n二、{}\n三、{}", ZH),
        ("１） {}\n２） {}\n３） {}", EN),
        ("١. {}\n٢. {}\n٣. {}", EN),
        ("१. {}\n२. {}\n३. {}", EN),
        ('{{"captions": [{{"caption": "{}"}}, {{"caption": "{}"}}, {{"caption": "{}"}}]}}', EN),
        ('{{"1": {{"text": "{}"}}, "2": {{"text": "{}", "score": 3}}, "3": ["{}"]}}', EN),
        ('{{"reasoning": ["a", "b"], "captions": ["{}", "{}", "{}"]}}', EN),
        ('[{{"id": 1, "sentence": "{}"}}, {{"id": 2, "sentence": "{}"}}, {{"id": 3, "sentence": "{}"}}]', EN),
    ],
)
def test_lists_of_any_numbers_and_objects_in_the_place_of_texts(form, items):
    parsed = TASKS["positives"].read({"caption": "a man opens a door"}, form.format(*items), 3, False)
    assert list(parsed.items) == items


@pytest.mark.parametrize(
    ("answers", "description", "items"),
    [
        (
            '[{"question": "Which way?", "answer": "To the left."}, "Fast."]',
            '{"text": "It runs."}',
            ["To the left.", "Fast."],
        ),
        ('{"1": "Left.", "2": {"answer": "Fast."}}', '["It runs", "then stops."]', ["Left.", "Fast."]),
        ("[true, 3]", '"It runs."', ["yes", "3"]),
    ],
)
def test_answers_and_description_are_texts(answers, description, items):
    text = f'{{"answers": {answers}, "description": {description}}}'
    parsed = TASKS["answers"].read({"caption": "a dog"}, text, 2, False)
    assert list(parsed.items) == items and parsed.sections["description"].startswith("It runs")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"1": "<think>hm</think>A man opens it.", "2": "A dog waits.", "3": "<think>x</think>A bell rings."}', EN),
        (
            '1. "No," a man says, "never."\n2. "A dog waits."\n3. “A bell rings.”',
            ['"No," a man says, "never."', *EN[1:]],
        ),
        ("・A man opens it.\n・A dog waits.\n・A bell rings.", EN),
    ],
)
def test_thoughts_and_quotes_within_items(text, items):
    assert list(TASKS["positives"].read({"caption": "a man opens a door"}, text, 3, False).items) == items


def test_a_plan_that_is_cut_off_is_no_list():
    text = "Okay, the user wants three.\n1. A man opens it.\n2. A dog waits.\n3. A bell rings.\n4. A"
    assert not TASKS["positives"].read({"caption": "a man opens a door"}, text, 3, True).usable


def test_parts_of_a_keyframe_may_be_objects():
    foreground = r'["a red ball", "a man\'s hat"]'
    text = f'{{"background": {{"wall": "blue"}}, "objects attributes": {foreground}, "desc": {{"text": "He plays."}}}}'
    sections = TASKS["keyframe_description"].read({}, text, 1, False).sections
    assert sections == {"background": "blue", "foreground": "a red ball, a man's hat", "description": "He plays."}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_answer_gives_its_right_items(case):
    text = separate(case["text"]).answer
    parsed = TASKS[case["task"]].read({"caption": case["caption"]}, text, case["count"], case["cut"])
    assert list(parsed.items) == (case["right"] or [])
    assert parsed.usable == (case["right"] is not None)
