"""The paired comparison that every suite, table and command shares; its statistics are in test_intervals.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.benchmark.intervals import compare_paired

ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 4)), min_size=1, max_size=40)


@given(ANSWERS, st.integers(1, 3))
def test_turned_round_it_is_the_same_with_other_signs(rows, trainings):
    *sides, videos = (np.array(column) for column in zip(*rows))
    one, two = (100.0 * np.tile(side, (trainings, 1)) for side in sides)
    forward, turned = compare_paired(one, two, videos), compare_paired(two, one, videos)
    assert (forward.wins, forward.losses, forward.equal) == (turned.losses, turned.wins, turned.equal)
    assert forward.wins + forward.losses + forward.equal == len(rows)
    assert forward.value == pytest.approx(forward.first - forward.second)
    assert len(rows) * forward.value == pytest.approx(100 * (forward.wins - forward.losses))
    assert np.isnan(forward.low) == (len(set(videos.tolist())) == 1)
    assert forward.low == pytest.approx(-turned.high, nan_ok=True)
    assert (forward.p is None) == (trainings == 1)


def test_wins_are_counted_on_the_mean_over_trainings_of_which_the_fewer_count():
    one = np.array([[1.0, 0, 1], [1, 1, 0]])
    found = compare_paired(one, np.array([[0.5, 0.5, 1], [0.5, 0.5, 1], [0.5, 0.5, 1]]), ["a", "b", "c"], top=1)
    assert (found.wins, found.losses, found.equal, found.trainings) == (1, 1, 1, 2)
    assert (found.first, found.second) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_a_run_is_not_different_from_itself():
    one = np.array([[100.0, 0, 100]])
    found = compare_paired(one, one, ["a", "b", "c"])
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, None)
    assert compare_paired(np.tile(one, (2, 1)), np.tile(one, (3, 1)), ["a", "b", "c"]).p == 1


def test_what_was_not_trained_brings_no_noise_of_training():
    rng = np.random.default_rng(4)
    trained, fixed = 100 * (rng.random((3, 80)) < 0.6), 100 * (rng.random((1, 80)) < 0.3)
    videos = np.repeat(np.arange(20), 4)
    assert compare_paired(trained, fixed, videos).p is None
    found = compare_paired(trained, fixed, videos, trained=(True, False))
    assert found.p is not None and found.p < 0.05 and found.trainings == 3
    turned = compare_paired(fixed, trained, videos, trained=(False, True))
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))
    copies = compare_paired(trained, np.repeat(fixed, 3, axis=0), videos)
    assert found.high - found.low == pytest.approx(copies.high - copies.low, rel=0.05)
    assert compare_paired(fixed, 100 - fixed, videos, trained=(False, False)).trainings is None
