"""Scores of captions against grades: each measure against a plain computation, and intervals that hold it."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, norm, spearmanr
from sklearn.metrics import roc_auc_score

from verified.benchmark.correlation import MEASURES, Rated, auroc, auroc_interval, compare_metrics, measure


def sample(n: int = 80):
    random = np.random.default_rng(4)
    quality = random.normal(size=n)
    grades = np.clip(np.round(quality + random.normal(0, 0.5, (3, n)) + 3), 1, 5)
    grades[2, ::7] = np.nan
    clips = [number // 4 for number in range(n)]
    right = (quality + random.normal(0, 0.5, n) > 0).astype(float)
    right[:5] = np.nan
    return quality, Rated(grades, right, clips, [clip // 2 for clip in clips])


def test_each_measure_is_what_a_plain_computation_says():
    quality, rated = sample()
    score = np.round(quality, 1)
    found = dict(zip(MEASURES, measure(score, rated, rated.pairs(), np.ones(80, dtype=int))))
    given = [~np.isnan(row) for row in rated.grades]
    for name, of in (("kendall", kendalltau), ("spearman", spearmanr)):
        each = [of(score[told], row[told])[0] for told, row in zip(given, rated.grades)]
        assert found[name] == pytest.approx(np.mean(each)), "the mean over people"
    assert found["auroc"] == pytest.approx(roc_auc_score(rated.right[5:], score[5:]))
    mean, hits = np.nanmean(rated.grades, axis=0), []
    for one, two in combinations(range(80), 2):
        if rated.clips[one] == rated.clips[two] and mean[one] != mean[two]:
            same = (score[one] > score[two]) == (mean[one] > mean[two])
            hits.append(0.5 if score[one] == score[two] else float(same))
    assert found["accuracy"] == pytest.approx(np.mean(hits))


def test_a_weight_counts_a_caption_so_often():
    quality, rated = sample()
    weights = np.array([2 if clip % 3 else 0 for clip in rated.clips])
    rows = np.repeat(np.arange(80), weights)
    again = Rated(rated.grades[:, rows], rated.right[rows], [rated.clips[row] for row in rows], rows.tolist())
    whole = np.ones(len(rows), dtype=int)
    expected = measure(quality[rows], again, again.pairs(), whole)
    assert measure(quality, rated, rated.pairs(), weights) == pytest.approx(expected)


def test_intervals_hold_the_value_and_gaps_tell_a_metric_from_noise():
    quality, rated = sample()
    noise = np.random.default_rng(1).normal(size=80)
    scores = {"good": quality, "better still": quality * 2 + 1, "noise": noise, "flat": np.zeros(80)}
    found = compare_metrics(scores, rated, 200, 1)
    for name in MEASURES:
        good, same, bad = (found[metric][name] for metric in ("good", "better still", "noise"))
        assert good["low"] < good["value"] < good["high"]
        assert (same["gap"], same["gap_low"], same["gap_high"]) == (0, 0, 0), "paired: the same order, on every draw"
        assert bad["gap_high"] < 0
    assert found["flat"]["kendall"]["value"] is None and found["flat"]["accuracy"]["value"] == 0.5
    assert found == compare_metrics(scores, rated, 200, 1)


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
