"""Intervals and tests from resampling."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from verified.common.auroc import auroc, auroc_interval
from verified.common.bootstrap import interval, mean_interval, resampled_means, two_level_means, two_sided_p_value


def test_interval_of_a_mean_agrees_with_the_normal_one():
    values = np.random.default_rng(0).random(400) < 0.3
    mean, low, high = mean_interval(values, 4000, 1)
    error = norm.ppf(0.975) * np.sqrt(mean * (1 - mean) / 400)
    assert mean == values.mean()
    assert low == pytest.approx(mean - error, abs=0.006)
    assert high == pytest.approx(mean + error, abs=0.006)
    assert mean_interval(values, 4000, 1) == (mean, low, high)
    assert np.isnan(mean_interval(np.array([]), 100, 1)).all()


def test_paired_test_sees_a_difference_and_none():
    random = np.random.default_rng(1)
    first = (random.random(300) < 0.5).astype(float)

    def p_value(other):
        return two_sided_p_value(resampled_means((other - first)[:, None], 1000, 1)[:, 0])

    assert p_value(first) == 1.0
    assert p_value(random.random(300) < 0.5) > 0.05
    assert p_value(np.ones(300)) < 0.01


def test_one_training_is_the_bootstrap_over_units():
    values = np.random.default_rng(4).random((1, 80, 2))
    assert np.array_equal(two_level_means(values, 200, 1, "a"), resampled_means(values[0], 200, 1))


def test_two_levels_have_the_variance_of_both():
    random = np.random.default_rng(5)
    training = np.array([0.2, 0.5, 0.65])
    values = (random.random((3, 500)) < training[:, None]).astype(float)[:, :, None]
    means = two_level_means(values, 6000, 1, "a")[:, 0]
    by_training = values.mean(axis=(1, 2))
    expected = by_training.var(ddof=1) / 3 + values[:, :, 0].mean(axis=0).var() / 500
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert means.var() == pytest.approx(expected, rel=0.1)
    low, high = interval(means)
    assert low < values.mean() < high


def test_units_are_drawn_in_pairs_and_trainings_apart():
    values = (np.random.default_rng(6).random((1, 300)) < 0.5).astype(float)[:, :, None]
    same = two_level_means(values, 500, 1, "a") - two_level_means(values, 500, 1, "b")
    assert not same.any()
    trainings = np.concatenate([values * 0.5, values], axis=0)
    assert (two_level_means(trainings, 500, 1, "a") != two_level_means(trainings, 500, 1, "b")).any()


def test_auroc_agrees_with_scikit_learn_with_ties_and_weights():
    random = np.random.default_rng(2)
    scores, positive = random.integers(0, 8, 200).astype(float), random.random(200) < 0.4
    weights = random.integers(0, 4, 200)
    assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    assert auroc(scores, positive, weights) == pytest.approx(roc_auc_score(positive, scores, sample_weight=weights))
    assert np.isnan(auroc(scores, np.ones(200, dtype=bool)))


def test_auroc_interval_holds_the_value_and_widens_with_fewer_units():
    random = np.random.default_rng(3)
    positive = random.random(600) < 0.5
    scores = random.normal(size=600) + positive
    area, low, high = auroc_interval(scores, positive, np.arange(600), 300, 1)
    _, low_few, high_few = auroc_interval(scores, positive, np.arange(600) // 100, 300, 1)
    assert low < area < high
    assert area == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.05)
    assert high - low > 0
    assert high_few - low_few > 0
