"""Overlaps, NMS and recall."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.longform.overlap import best_spans, iou, suppress
from verified.longform.recall import first_hits, over_films, recall, recall_over_films

SPAN = st.tuples(st.integers(0, 40), st.integers(1, 20)).map(lambda pair: (pair[0] * 0.4, (pair[0] + pair[1]) * 0.4))


@given(SPAN, SPAN)
def test_the_hull_is_the_union_where_spans_overlap_and_the_iou_zero_where_not(a, b):
    value = float(iou(np.array(a), *b))
    common = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    union = (a[1] - a[0]) + (b[1] - b[0]) - common
    assert value == pytest.approx(common / union)


@given(st.lists(SPAN, max_size=60), st.integers(1, 10))
def test_nms_equals_the_plain_double_loop(spans, keep):
    spans = np.array(spans).reshape(-1, 2)
    kept = []
    for row, span in enumerate(spans.astype(np.float32)):
        if all(iou(span, *spans[other].astype(np.float32)) <= np.float32(0.3) for other in kept):
            kept.append(row)
    assert suppress(spans, 0.3, keep).tolist() == kept[:keep]


def test_the_best_spans_are_those_of_a_full_sort():
    random = np.random.default_rng(0)
    starts = random.integers(0, 300, 20_000)  # a short film, so that thousands must be looked at
    spans = np.stack([starts, starts + random.integers(1, 30, 20_000)], axis=1) * 0.4
    scores = np.round(random.normal(size=20_000), 1)  # many ties
    order = np.argsort(-scores, kind="stable")
    assert best_spans(scores, spans, 0.3, 100).tolist() == order[suppress(spans[order], 0.3, 100)].tolist()


def test_a_tie_counts_by_the_chosen_comparison():
    moments = np.array([[0.0, 10.0]])
    half = [np.array([[20.0, 30.0], [0.0, 5.0]])]
    assert first_hits(half, moments, "gt").tolist() == [[1, 1, 100]]
    assert first_hits(half, moments, "ge").tolist() == [[1, 1, 1]]


def test_a_query_without_predictions_is_a_miss():
    ranks = first_hits([np.zeros((0, 2)), np.array([[0.0, 1.0]])], np.array([[0, 1], [0, 1]]))
    assert recall(ranks)[0].tolist() == [0.5, 0.5, 0.5]
    assert np.isnan(recall(ranks[:0])).all()


def test_what_stands_behind_rank_100_does_not_count():
    spans = np.array([[1000.0 + rank, 1001.0 + rank] for rank in range(100)] + [[0.0, 1.0]])
    assert recall(first_hits([spans], np.array([[0.0, 1.0]])))[-1].tolist() == [0, 0, 0]


def test_intervals_hold_the_mean_and_grow_when_queries_share_films():
    random = np.random.default_rng(1)
    films = np.repeat(np.arange(10), 40)
    easy = np.repeat(random.random(10) < 0.5, 40)  # a film is easy as a whole, or hard
    ranks = np.where(easy, 0, 100)[:, None].repeat(3, axis=1)
    by_film, alone = recall_over_films(ranks, films), recall_over_films(ranks, np.arange(400))
    assert by_film["recall"] == alone["recall"] == (100 * recall(ranks)).tolist()
    assert by_film["low"][0][0] < by_film["recall"][0][0] < by_film["high"][0][0]
    widths = [found["high"][0][0] - found["low"][0][0] for found in (by_film, alone)]
    assert widths[0] > 2 * widths[1]
    assert by_film["intra_class"][0][0] == pytest.approx(1)


def test_of_a_single_film_nothing_is_said_but_the_recall():
    found = over_films(np.array([[0.0], [1.0]]), ["a", "a"])
    assert (found["recall"], found["low"], found["high"]) == ([50], [None], [None])
    assert over_films(np.zeros((0, 2)), [])["recall"] == [None, None]
