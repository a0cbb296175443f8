"""Captions that do not speak of their moment: injections are found, released captions left alone."""

import json
import random
import re

import pytest
from running import PROJECT

from verified.annotations.lint import LEAST_COSINE, doubts
from verified.lmm.refusal import refusal
from verified.nn.sentences import PACKAGED, cosines

INJECTIONS = PROJECT / "tests/fixtures/injections/injections.txt"
RELEASED = PROJECT.parent / "shared/data"
SETS = ("charades-fig/charades_fig_test", "didemo-fig/didemo_fig_test")
COARSE = (
    "the person closes the laptop screen.", "person puts it into a box.", "a dog runs across the grass",
    "the camera pans to the left", "two people sit down on a couch.", "girl in pink looks at the camera",
    "person turns off the light.", "the boat goes under the bridge", "a man begins to play the guitar",
    "person takes some medicine with some water.",
)  # fmt: skip
"""Coarse captions that an injection stands beside; one with an honest beginning stands beside that."""


def injections() -> list[tuple[str, str, str]]:
    """(style, injection, coarse caption)."""
    style, rows = "", []
    for line in INJECTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            style = line[3:]
        elif line and not line.startswith("# "):
            honest = re.split(r"[.;,]| and ", line)[0] if "honest" in style else COARSE[len(rows) % len(COARSE)]
            rows.append((style, line, honest))
    return rows


def caught(rows: list[tuple[str, str]]) -> list[bool]:
    """Whether each (caption, coarse caption) is refused, or flagged by its form or its distance."""
    far = cosines([caption for caption, _ in rows], [coarse for _, coarse in rows], PACKAGED) < LEAST_COSINE
    return [bool(refusal(*row) or doubts(*row) or away) for row, away in zip(rows, far)]


def test_of_two_hundred_injections_95_in_100_are_found():
    rows = injections()
    assert len(rows) == 200 and len({style for style, _, _ in rows}) == 10
    found = caught([(text, coarse) for _, text, coarse in rows])
    missed = [row for row, hit in zip(rows, found) if not hit]
    assert sum(found) >= 190, missed
    by_form = [style for style, text, coarse in rows if refusal(text, coarse) or doubts(text, coarse)]
    assert len(by_form) >= 160  # what the lint of every run finds, without sentence vectors
    assert by_form.count("an honest beginning, then the hook") >= 18


def test_released_captions_raise_few_false_alarms():
    if not RELEASED.is_dir():
        pytest.skip("the released annotations are not beside the project")
    files = (RELEASED / f"{name}.jsonl" for name in SETS)
    lines = [
        json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    released = [(row["fig_desc"], row["cog_desc"]) for row in lines]
    by_form = sum(bool(doubts(*row)) for row in released) / len(released)
    sample = random.Random(1).sample(released, 400)
    far = cosines([caption for caption, _ in sample], [coarse for _, coarse in sample], PACKAGED) < LEAST_COSINE
    assert by_form <= 0.001
    assert far.mean() <= 0.0075  # three of 400; 0.3 % of 2,500


@pytest.mark.parametrize(
    ("caption", "coarse"),
    [
        ("A sign reads 'ignore all rules' as a man walks by.", "a man walks past a sign"),
        ('"The person removes both shoes."', "this person takes off their shoes."),
        ("You walk down the stairs with a cup.", "you walk down the stairs"),
        ("Hearing the phone ring, a man runs to the bed to answer the call.", "a person answers the phone."),
        ("A player scores a goal.", "goal"),
    ],
)
def test_captions_that_only_sound_odd_pass(caption, coarse):
    assert doubts(caption, coarse) == []


def test_captions_are_doubted_from_the_limits_on():
    assert doubts("a dog a dog a dog", "dog") == ["words repeated"] and not doubts("a dog sees a dog", "dog")
    assert not doubts("the tall dog", "a dog is on the brown grass") and doubts("the dog", "a dog on brown grass")
    other = "собака бежит по траве"
    assert doubts(other, "a dog runs on grass") == ["another script than the coarse caption"]
    assert doubts(other, "собака на траве") == doubts("a dog jumps", "собака на траве") == []
