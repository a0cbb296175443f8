"""tIoU, hits and the rank of the first, suppression against its definition, and chance against drawn spans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from verified.benchmark.auroc import auroc, auroc_interval
from verified.benchmark.lists import Lists, suppress, suppress_spans
from verified.benchmark.tiou import guessed_recall, guessed_span, hits, tiou
from verified.benchmark.vcmr.metrics import Truth, agreed_overlap

SECONDS = st.floats(0, 200, allow_nan=False)
SPAN = st.tuples(SECONDS, SECONDS)
GRID = st.tuples(st.integers(0, 40), st.integers(1, 20)).map(lambda pair: (pair[0] * 0.4, (pair[0] + pair[1]) * 0.4))


@given(SPAN, SPAN)
def test_it_is_symmetric_bounded_and_one_only_for_the_same_span(one, two):
    assert 0 <= tiou(*one, *two) == tiou(*two, *one) <= 1
    assert tiou(*one, *one) == (1 if one[1] > one[0] else 0)  # a span without length, or reversed, meets nothing


@given(GRID, GRID)
def test_the_hull_is_the_union_where_spans_overlap_and_the_tiou_zero_where_not(one, two):
    shared = max(0.0, min(one[1], two[1]) - max(one[0], two[0]))
    assert tiou(*one, *two) == pytest.approx(shared / ((one[1] - one[0]) + (two[1] - two[0]) - shared))


def test_a_tie_counts_as_each_benchmark_says():
    """MAD's text and zero-shot script ask for more than the threshold; TVR, VLG-Net and ReXTime for as much."""
    assert hits(tiou(0, 5, 0, 10), 0.5) and not hits(tiou(0, 5, 0, 10), 0.5, "gt")


@pytest.mark.parametrize(("annotators", "expected"), [(1, 1.0), (3, 1.0), (4, 0.2), (5, 0.2)])
def test_from_four_annotators_on_two_must_agree_with_an_answer(annotators, expected):
    spans = np.full((1, 5, 2), np.nan)
    spans[0, :annotators] = [(10, 15), (10, 11), (20, 25), (20, 25), (25, 30)][:annotators]
    lists = Lists(np.array([[3]]), np.array([[10.0]]), np.array([[15.0]]), np.array([[0.5]]))
    assert agreed_overlap(Truth(np.array([7]), np.array([3]), spans), lists) == pytest.approx(expected)
    assert agreed_overlap(Truth(np.array([7]), np.array([3]), spans, windows=True), lists) == 1.0


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


def greedy(rows: list[tuple], threshold: float) -> list[tuple]:
    """The definition: best first, without rows that overlap an accepted one of the same video above the threshold."""
    kept = []
    for video, start, end, *score in rows:
        if all(tiou(start, end, a, b) <= threshold for other, a, b, *_ in kept if other == video):
            kept.append((video, start, end, *score))
    return kept


@settings(max_examples=60, deadline=None)
@given(
    lists=st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 9)), max_size=12),
        min_size=1,
        max_size=4,
    ),
    threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_suppression_of_any_lists_is_the_greedy_one(lists, threshold):
    tables = [[(v, a, a + length, 1.0 / (1 + row)) for row, (v, a, length) in enumerate(rows)] for rows in lists]
    suppressed = suppress(Lists.pad([np.array(table, dtype=float).reshape(-1, 4) for table in tables]), threshold)
    for query, table in enumerate(tables):
        parts = zip(suppressed.video[query], suppressed.start[query], suppressed.end[query], suppressed.score[query])
        assert [row for row in parts if row[0] >= 0] == greedy(table, threshold)


@given(st.lists(GRID, max_size=60), st.integers(1, 10))
def test_suppression_of_spans_is_the_greedy_one_in_float32(spans, keep):
    single = np.array(spans, np.float32).reshape(-1, 2)
    wanted = [row for *_, row in greedy([("movie", *span, row) for row, span in enumerate(single)], np.float32(0.3))]
    assert suppress_spans(np.array(spans).reshape(-1, 2), 0.3, keep).tolist() == wanted[:keep]


def test_spans_of_equal_scores_stand_by_the_first_appearance_of_their_video():
    rows = [[5, 0, 2, 0.9], [3, 0, 2, 0.7], [4, 0, 2, 0.7], [3, 6, 8, 0.7], [4, 6, 8, 0.7]]
    lists = suppress(Lists.pad([np.array(rows, dtype=float)]), 0.5)
    assert lists.video.tolist() == [[5, 3, 3, 4, 4]] and lists.start.tolist() == [[0, 0, 6, 0, 6]]


def test_auroc_agrees_with_scikit_learn_with_ties_and_weights():
    random = np.random.default_rng(2)
    scores, positive = random.integers(0, 8, 200).astype(float), random.random(200) < 0.4
    weights = random.integers(0, 4, 200)
    assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    assert auroc(scores, positive, weights) == pytest.approx(roc_auc_score(positive, scores, sample_weight=weights))
    assert np.isnan(auroc(scores, np.ones(200, dtype=bool)))


def test_auroc_interval_holds_the_value_and_draws_whole_units():
    random = np.random.default_rng(3)
    positive = random.random(600) < 0.5
    scores = random.normal(size=600) + positive
    area, low, high = auroc_interval(scores, positive, np.arange(600), 300, 1)
    assert low < area < high
    assert area == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.05)
    falls, rises = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2  # Hanley and McNeil's error
    spread = np.sqrt((area * (1 - area) + (positive.sum() - 1) * falls + ((~positive).sum() - 1) * rises) / 300**2)
    assert high - low == pytest.approx(2 * norm.ppf(0.975) * spread, rel=0.1)
    copies = [np.repeat(each, 5) for each in (scores, positive, np.arange(600))]
    assert auroc_interval(*copies, 300, 1) == pytest.approx((area, low, high))
