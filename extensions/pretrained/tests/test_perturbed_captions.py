"""Captions of the demo, perturbed in the way they claim to be."""

import random
from collections import Counter

import pytest

from verified.demo.full_captions import describe, word
from verified.demo.scenes import facts, make_scenes
from verified_pretrained.perturbed import DYNAMIC, STATIC, perturb, possible


@pytest.fixture(scope="module")
def events():
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
        assert other[name] != said[name]
        untouched = set(STATIC) - {name} if attributes == STATIC else set(STATIC) - {"size"}
        assert all(other[each] == said[each] for each in untouched)
        assert word(other, number) != word(said, number)
    assert set(seen) == set(attributes)
