"""Facts from English captions of the demo world."""

import pytest

from verified.demo.caption_facts import agreement, caption_facts
from verified.statistics.validity import attributes_of

CASES = [
    ("a ball moves", {"shape": "ball", "count": 1, "motion": "moves"}),
    ("boxes move", {"shape": "box", "motion": "moves"}),
    ("crosses circle around", {"shape": "cross", "motion": "circles"}),
    ("The two red rings pop up.", {"shape": "ring", "count": 2, "colour": "red", "motion": "appears"}),
    (
        "a pair of tiny dotted stars hop up and down on the grass",
        {
            "shape": "star",
            "count": 2,
            "size": "small",
            "texture": "dotted",
            "motion": "bounces",
            "backgrounds": ["field"],
        },
    ),
    (
        "three large green squares with dark stripes rapidly slide upwards against a grey wall",
        {
            "shape": "box",
            "count": 3,
            "size": "large",
            "texture": "striped",
            "colour": "green",
            "motion": "moves",
            "direction": "up",
            "speed": "fast",
            "backgrounds": ["wall"],
        },
    ),
    (
        "over green grass, a white triangle does not move while a red ball rests nearby, then the background changes"
        " to the night sky and then to a brick wall",
        {
            "shape": "triangle",
            "count": 1,
            "colour": "white",
            "motion": "stays",
            "backgrounds": ["field", "sky", "bricks"],
            "bystander": {"shape": "ball", "colour": "red"},
        },
    ),
    (
        "an orange cross glides to the left at a slow pace until it touches a blue box,"
        " and the camera pans to the right",
        {
            "shape": "cross",
            "count": 1,
            "colour": "orange",
            "motion": "meets",
            "direction": "left",
            "speed": "slow",
            "bystander": {"shape": "box", "colour": "blue"},
            "pan": "right",
        },
    ),
    (
        "a ring moves in a circle counter-clockwise",
        {"shape": "ring", "count": 1, "motion": "circles", "direction": "anticlockwise"},
    ),
    ("a man opens the door", {}),
]


@pytest.mark.parametrize(("caption", "facts"), CASES)
def test_facts_of_a_caption(caption, facts):
    assert caption_facts(caption) == facts


def test_attributes_hold_one_value_each():
    assert attributes_of("a red ball grows over sand, then the background changes to light blue water") == {
        "colour": "red",
        "shape": "ball",
        "count": 1,
        "motion": "grows",
        "background": "sand",
    }


def test_agreement_judges_what_is_stated():
    truth = {
        "shape": "ball",
        "colour": "red",
        "size": None,
        "texture": "plain",
        "count": 1,
        "motion": "grows",
        "direction": None,
        "speed": None,
        "scenes": [
            {"background": "sand", "pan": None, "bystander": None},
            {"background": "sky", "pan": "left", "bystander": {"shape": "box", "colour": "blue"}},
        ],
    }
    said = caption_facts("a large blue ball grows to the left over sand, as a blue box stands by")
    assert agreement(said, truth) == {
        "shape": True,
        "colour": False,
        "count": True,
        "motion": True,
        "direction": False,
        "background": True,
        "bystander": True,
    }
    said = caption_facts("a ball grows on the water, as a red box stands by, and the camera pans to the right")
    assert {name: agreement(said, truth)[name] for name in ("background", "bystander", "pan")} == {
        "background": False,
        "bystander": False,
        "pan": False,
    }
