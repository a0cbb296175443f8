"""Area under the ROC curve: its value, and its interval from resampled units."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from verified.benchmark.correlation import auroc, auroc_interval


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
