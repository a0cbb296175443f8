"""Facts from English captions of the demo."""

from verified.demo.caption_facts import agreement, caption_facts


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
