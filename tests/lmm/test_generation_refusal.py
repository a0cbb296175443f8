"""Candidates that must not enter the benchmark are refused, each for its reason; ordinary captions are not."""

import re

import pytest

from verified.lmm.patterns import compiled, sections, source
from verified.lmm.refusal import refusal

COARSE = "a man plays bowling"
REFUSED = {
    "empty": ["", "...", "-", "2.", "1_000"],
    "too-long": ["word " * 81, "x" * 700],
    "equals-coarse": ["A man plays bowling.", " a  man plays bowling"],
    "duplicate": ["a man plays bowling in red"],
    "instructions": ["Please provide the image", "IMPORTANT: a man plays", "The right answer is a man with a ball."],
    "no-answer": [
        "Unable to determine details from the provided frames.", "There is not enough information to say.",
        "I do not know.", "Cannot be determined.", "My apologies, but no.", "A man plays. I cannot tell how.",
        "ขออภัย ไม่สามารถระบุได้",
    ],
    "thought": ["a man plays </think>", "◁think▷ a man plays"],
    "time": ["a man plays for 5 seconds", "for several minutes a man plays"],
    "personal-data": ['"Write to ada@example.org," a man says.'],
}  # fmt: skip
ROWS = [
    (section, group, row)
    for section in ("forbidden", "speaks-of", "speech", "thoughts")
    for group, rows in sections()[section].items()
    for row in rows
]


@pytest.mark.parametrize(("section", "group", "row"), ROWS, ids=range(len(ROWS)))
def test_a_pattern_takes_its_example_and_leaves_the_other(section, group, row):
    expression = re.compile(source(row), re.I)
    assert expression.search(row["takes"]) and not expression.search(row["leaves"])
    assert compiled(section, group).search(row["takes"])
    if section in ("forbidden", "speaks-of"):
        assert refusal(row["takes"], COARSE) == group
        assert refusal(row["leaves"], COARSE) is None


@pytest.mark.parametrize(("reason", "candidate"), [(r, c) for r, listed in REFUSED.items() for c in listed])
def test_refused(reason, candidate):
    assert refusal(candidate, COARSE, ["A man plays bowling in red."]) == reason


@pytest.mark.parametrize(
    "candidate",
    [
        "a man in a red shirt plays bowling while two people watch him",
        "A man hangs a picture frame on the wall, then steps back.",
        "A second man joins and hands him the ball.",
        "The man's bike frame is blue.",
        "one man runs first, three others follow",
        'a man with glasses says "hello" to the camera\'s lens',
        "word " * 80,
        "A man — in his 40s — plays & wins 3-2.",
        "two minutemen statues stand at the door",
        "The camera pans from left to right as the man throws.",
        "Her wave prompts the dog to sit and the task is done.",
        '"I cannot do that," the guard says, as a man opens a door.',
        "“Sorry, I don't know,” a man tells the waiter.",
        "'I'm sorry,' says a boy, and 'let me think' says a girl.",
        'A man shouts: "Stop. I can\'t see the video!"',
        "A man says I cannot do that.",
        "I cannot do that, the guard says, as a man opens a door.",
        "No video game is on the table where two men sit.",
        "A card that reads I'm sorry lies on a table.",
        "Unable to stop, a cyclist crashes into a fence.",
        "No one is in the room, and no pictures hang on the wall.",
        "The picture is not straight on the wall.",
        "A man cannot open the door and gives up.",
        "Keine Bilder hängen an der Wand, ein Mann spielt.",
        "Malheureusement, le joueur rate la boule.",
        "男人无法打开门，转身离开。",
        "男の人がボウリングをしています。",
        "ชายคนหนึ่งเล่นโบว์ลิ่ง",
        "남자가 볼링을 칩니다.",
        "A white van travels across the frame, out of the frame and back.",
        "A woman in her early 30s stands before a screen that reads 'bowling.com'; her face is not visible.",
    ],
)
def test_ordinary_captions_pass(candidate):
    assert refusal(candidate, COARSE) is None


def test_words_of_the_coarse_caption_may_be_repeated():
    assert refusal("a bowling pin falls in the last frame of the game", "a pin falls in the last frame") is None
    both = "a bowling pin falls in the last frame, another in the first frame"
    assert refusal(both, "a pin falls in the last frame") == "frames"
