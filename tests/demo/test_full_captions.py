"""Captions of the demo: true, varied, and perturbed in the way they claim to be."""

import random
from collections import Counter

import pytest

from verified.demo.full_captions import DYNAMIC, STATIC, describe, perturb, possible, word
from verified.demo.scenes import facts, make_scenes


@pytest.fixture(scope="module")
def events():
    """Facts of some 600 events."""
    plans = [make_scenes(4, f"video {number}", 20, 8) for number in range(100)]
    return [facts(event, plan.fps) for plan in plans for event in plan.events]


@pytest.mark.parametrize("attributes", [STATIC, DYNAMIC])
def test_a_perturbed_caption_is_false_in_the_named_attribute(events, attributes):
    seen = Counter()
    for number, known in enumerate(events):
        rng = random.Random(number)
        said = describe(known, rng)
        other, name = perturb(said, attributes, rng)
        seen[name] += 1
        assert possible(other)
        assert getattr(other, name) != getattr(said, name)
        untouched = set(STATIC) - {name} if attributes == STATIC else set(STATIC) - {"size"}
        assert all(getattr(other, each) == getattr(said, each) for each in untouched)
        assert word(other, number) != word(said, number)
    assert set(seen) == set(attributes)


def test_words_alone_do_not_betray_a_perturbation(events):
    """Shares of each motion and each count among true and perturbed captions are alike."""
    for attributes, name in ((STATIC, "count"), (DYNAMIC, "motion")):
        true, false = Counter(), Counter()
        for number, known in enumerate(events):
            rng = random.Random(number)
            said = describe(known, rng)
            true[getattr(said, name)] += 1
            false[getattr(perturb(said, attributes, rng)[0], name)] += 1
        for value, count in true.items():
            assert abs(count - false[value]) / len(events) < 0.06, (name, value)
