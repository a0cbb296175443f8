"""Suppression of ranked lists and of spans against its definition; the official routines are in tests/retrieval."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.benchmark.lists import Lists, best_spans, suppress, suppress_spans
from verified.benchmark.tiou import tiou

SPAN = st.tuples(st.integers(0, 40), st.integers(1, 20)).map(lambda pair: (pair[0] * 0.4, (pair[0] + pair[1]) * 0.4))


def greedy(rows: list[tuple], threshold: float) -> list[tuple]:
    """The definition: best first, drop what overlaps a kept row of the same video by more than the threshold."""
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


@given(st.lists(SPAN, max_size=60), st.integers(1, 10))
def test_suppression_of_spans_is_the_greedy_one_in_float32(spans, keep):
    single = np.array(spans, np.float32).reshape(-1, 2)
    wanted = [row for *_, row in greedy([("movie", *span, row) for row, span in enumerate(single)], np.float32(0.3))]
    assert suppress_spans(np.array(spans).reshape(-1, 2), 0.3, keep).tolist() == wanted[:keep]


def test_the_best_spans_are_those_of_a_full_sort():
    random = np.random.default_rng(0)
    starts = random.integers(0, 300, 20_000)  # a short movie, so that thousands must be looked at
    spans = np.stack([starts, starts + random.integers(1, 30, 20_000)], axis=1) * 0.4
    scores = np.round(random.normal(size=20_000), 1)  # many ties
    order = np.argsort(-scores, kind="stable")
    assert best_spans(scores, spans, 0.3, 100).tolist() == order[suppress_spans(spans[order], 0.3, 100)].tolist()
