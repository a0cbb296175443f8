"""Intervals and tests from resampling."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from verified.common.auroc import auroc, auroc_interval
from verified.common.bootstrap import mean_interval, paired_p_value


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
    first = random.random(300) < 0.5
    assert paired_p_value(first, first, 1000, 1) == 1.0
    assert paired_p_value(first, random.random(300) < 0.5, 1000, 1) > 0.05
    assert paired_p_value(np.ones(300), first, 1000, 1) < 0.01


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
