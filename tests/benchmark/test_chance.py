"""What guessing reaches, against spans that are really drawn."""

import numpy as np
import pytest

from verified.benchmark.tiou import guessed_recall, guessed_span, tiou

MOMENTS = [(2.0, 6.0, 10.0), (0.0, 30.0, 30.0), (1.0, 1.5, 20.0)]


def test_a_guessed_span_is_right_as_often_as_spans_that_are_drawn():
    random = np.random.default_rng(0)
    shares = []
    for start, end, duration in MOMENTS:
        drawn = np.sort(random.uniform(0, duration, (200_000, 2)), axis=1)
        shares.append((tiou(drawn[:, 0], drawn[:, 1], start, end) >= 0.5).mean())
    assert guessed_span(MOMENTS, 0.5) == pytest.approx(np.mean(shares), abs=0.02)  # a grid of 64 parts


def test_recalls_of_one_guess_are_shares_of_videos_and_spans_in_percent():
    share = guessed_span(MOMENTS, 0.7)
    assert guessed_recall("VR", "r1", MOMENTS, 4) == 25
    assert guessed_recall("SVMR", "0.7/r1", MOMENTS, 4) == pytest.approx(100 * share)
    assert guessed_recall("VCMR", "0.7/r1", MOMENTS, 4) == pytest.approx(25 * share)
    assert guessed_recall("VCMR", "0.7/r10", MOMENTS, 4) is None and guessed_recall("VR", "r1", [], 0) is None
