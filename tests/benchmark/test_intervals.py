"""Intervals and paired comparisons: against known truth, against formulas, and where little is known."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from verified.benchmark.intervals import (
    compare_paired,
    difference,
    intra_class_correlation,
    mean_interval,
    share_interval,
    typical_correlation,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from significance import Simulation, measure, problems

SOME = 1000


@pytest.mark.parametrize("trainings", [3, 5])
@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.4])
@pytest.mark.parametrize(("recall", "noise"), [(0.15, 0.03), (0.5, 0.04)])
def test_intervals_hold_the_truth_and_tests_stay_quiet(recall, noise, correlation, trainings):
    assert list(problems(measure(Simulation(recall, correlation, noise), trainings, SOME, seed=7), SOME)) == []


def test_the_interval_of_a_single_training_misses_its_noise_and_gives_no_p():
    rates = measure(Simulation(0.15, 0.1, 0.05), 1, SOME, seed=7)
    assert rates.coverage < 80 and rates.same is None and rates.other is None


def test_one_training_with_a_query_a_video_is_student_s_t():
    values = np.random.default_rng(0).random((1, 40, 1))
    other = np.random.default_rng(1).random((1, 40, 1))
    compared = difference(values, other, range(40))
    expected = ttest_1samp((values - other)[0, :, 0], 0).confidence_interval()
    assert (compared.low[0], compared.high[0]) == pytest.approx((expected.low, expected.high))
    assert compared.p is None
    few = mean_interval(values, range(40))
    assert few.low[0] < values.mean() < few.high[0]


def test_noise_of_training_alone_is_welch_s_test():
    """Every query of a training has the same value, so that only the trainings' means say anything."""
    random = np.random.default_rng(2)
    first, second = random.random((5, 1, 1)) * np.ones((1, 60, 1)), random.random((3, 1, 1)) * np.ones((1, 60, 1))
    compared = difference(first, second, np.arange(60) // 4)
    expected = ttest_ind(first[:, 0, 0], second[:, 0, 0], equal_var=False)
    assert compared.p[0] == pytest.approx(expected.pvalue)
    bounds = expected.confidence_interval()
    assert (compared.low[0], compared.high[0]) == pytest.approx((bounds.low, bounds.high))


def test_whole_videos_count_and_not_their_queries():
    values = (np.random.default_rng(4).random((1, 50, 1)) < 0.4).astype(float)
    once = mean_interval(values, range(50))
    copied = mean_interval(np.repeat(values, 6, axis=1), np.repeat(np.arange(50), 6))
    assert (once.low[0], once.high[0]) == pytest.approx((copied.low[0], copied.high[0]))
    split = mean_interval(np.repeat(values, 6, axis=1), range(300))
    assert split.high[0] - split.low[0] < 0.6 * (once.high[0] - once.low[0])
    assert intra_class_correlation(np.repeat(values, 6, axis=1), np.repeat(np.arange(50), 6))[0] == pytest.approx(1)


def test_bounds_stay_within_what_is_possible():
    rare = np.zeros((3, 60, 1))
    none = mean_interval(rare, np.arange(60) // 6)
    assert none.low[0] == 0 and 0.2 < none.high[0] < 0.4  # ten videos without one right answer
    every = mean_interval(100 * (1 - rare), np.arange(60) // 6, top=100)
    assert every.high[0] == 100 and every.low[0] == pytest.approx(100 * (1 - none.high[0]))
    rare[0, 3] = 1
    some = mean_interval(rare, np.arange(60) // 6)
    assert 0 < some.low[0] < some.value[0] < some.high[0] < 1
    apart = difference(rare, 1 - rare, np.arange(60) // 30)
    assert apart.low[0] >= -1 and apart.high[0] <= 1


def test_a_run_is_no_different_from_itself():
    values = (np.random.default_rng(6).random((1, 30, 1)) < 0.5).astype(float)
    same = difference(values, values, np.arange(30) // 3)
    assert (same.value[0], same.low[0], same.high[0]) == (0, 0, 0)
    constant = np.ones((3, 30, 1))
    assert difference(constant, constant, np.arange(30) // 3).p[0] == 1
    assert difference(constant, 0 * constant, np.arange(30) // 3).p[0] == 0


def test_a_share_of_counts_is_the_mean_of_what_was_counted():
    hits, trials = np.array([1, 0, 4, 2, 3]), np.array([2, 1, 5, 2, 6])
    each = np.concatenate([np.r_[np.ones(h), np.zeros(t - h)] for h, t in zip(hits, trials)])
    one, other = share_interval(hits, trials), mean_interval(each[None, :, None], np.repeat(np.arange(5), trials))
    assert (one.value, one.low, one.high) == pytest.approx((other.value[0], other.low[0], other.high[0]))


def test_correlation_of_queries_that_belong_together():
    random = np.random.default_rng(8)
    owner = np.repeat(np.arange(500), 5)
    video, query = random.normal(size=(1, 500, 1))[:, owner], random.normal(size=(1, 2500, 1))
    assert intra_class_correlation(query, owner)[0] == pytest.approx(0, abs=0.03)
    assert intra_class_correlation(video + query, owner)[0] == pytest.approx(0.5, abs=0.05)
    assert np.isnan(intra_class_correlation(np.ones((2, 10, 1)), np.arange(10) // 2)).all()
    assert typical_correlation([0.1, None, 0.2, 0.6]) == "0.20 (median of the cells, 0.10 to 0.60)"


def test_wins_are_counted_on_the_mean_over_trainings_of_which_the_fewer_count():
    one = np.array([[1.0, 0, 1], [1, 1, 0]])
    found = compare_paired(one, np.array([[0.5, 0.5, 1], [0.5, 0.5, 1], [0.5, 0.5, 1]]), ["a", "b", "c"], top=1)
    assert (found.wins, found.losses, found.equal, found.trainings) == (1, 1, 1, 2)
    assert (found.first, found.second) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_untrained_rows_have_no_noise_of_training():
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
