"""tIoU, what counts as a hit, and the rank of the first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.benchmark.tiou import first_ranks, hits, tiou

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


@given(st.lists(st.tuples(SPAN, SPAN), min_size=1), st.sampled_from([np.float32, np.float64]))
def test_arrays_have_the_values_of_single_spans_in_their_precision(pairs, precision):
    one, two = np.array(pairs, precision).swapaxes(0, 1)
    values = tiou(*one.T, *two.T)
    assert values.dtype == precision
    assert values.tolist() == [float(tiou(*first, *second)) for first, second in zip(one, two)]


def test_whole_numbers_are_spans_too():
    assert tiou(0, 2, 1, 3) == pytest.approx(1 / 3)
    assert tiou(np.array([0, 5]), np.array([2, 6]), 1, 3).tolist() == [pytest.approx(1 / 3), 0]


def test_a_tie_counts_as_each_benchmark_says():
    """MAD's text and zero-shot script ask for more than the threshold; TVR, VLG-Net and ReXTime for as much."""
    assert hits(tiou(0, 5, 0, 10), 0.5) and not hits(tiou(0, 5, 0, 10), 0.5, "gt")


def test_on_mads_grid_precision_decides_what_reaches_a_threshold():
    spans = np.array([(0.4 * start, 0.4 * (start + 3)) for start in range(8)])
    double = tiou(*spans.T, *np.array([spans[:, 0] - 1.2, spans[:, 0] + 2.8]))  # 1.2 s within 4 s
    single = tiou(*spans.T.astype(np.float32), *np.array([spans[:, 0] - 1.2, spans[:, 0] + 2.8], np.float32))
    assert double == pytest.approx(0.3) and single == pytest.approx(0.3)
    assert (double > 0.3).tolist() != (single > np.float32(0.3)).tolist()


def test_the_first_right_row_is_found_by_position_or_by_the_ranks_given():
    right = np.array([[False, True, True], [False, False, False]])
    assert first_ranks(right).tolist() == [2, np.inf]
    assert first_ranks(right, np.array([[0, 1, 2], [0, 0, 1]])).tolist() == [1, np.inf]
    assert first_ranks(np.zeros((2, 0), bool)).tolist() == [np.inf, np.inf]
    assert (1 / first_ranks(right)).tolist() == [0.5, 0]
