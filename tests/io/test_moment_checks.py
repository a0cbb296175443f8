"""Checks of one row of a moments file: whatever the values are, a row is used as it should be or refused."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from verified.io.moments_file import RowRefused, desc_id, end_within, span

anything = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)
)


@given(anything, anything)
def test_spans_are_ordered_or_refused(start, end):
    try:
        first, last = span({"start": start, "end": end})
    except RowRefused:
        return
    assert 0 <= first < last < math.inf


@given(st.floats(0, 100), st.floats(0.01, 100), st.floats(0.01, 100))
def test_ends_never_leave_the_video(start, length, duration):
    try:
        end = end_within(start, start + length, duration)
    except RowRefused:
        assert start >= duration
    else:
        assert start < end <= duration


@given(st.one_of(anything, st.integers(0, 2**64)), st.sets(st.integers(0, 5)))
@example("0\x1f", set())
def test_ids_are_whole_numbers_that_are_new(value, seen):
    try:
        number = desc_id(value, seen)
    except RowRefused:
        return
    assert 0 <= number < 2**53
    assert number not in seen
    assert str(number) == str(value).strip().lstrip("0") or number == 0
