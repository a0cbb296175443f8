"""The proposal grid: the official anchors and windows, and what the tail switch covers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified_longform.grid import Grid, distinct


def test_the_official_anchors_of_a_window():
    grid = Grid()
    lengths, counts = np.unique(np.diff(grid.anchors)[:, 0], return_counts=True)
    assert len(grid.anchors) == 626
    assert dict(zip(lengths.tolist(), counts.tolist())) == {
        1: 64, 2: 63, 3: 62, 4: 61, 5: 60, 6: 59, 8: 29, 10: 28, 12: 27, 14: 26, 16: 25, 18: 24, 20: 23, 22: 22,
        26: 10, 30: 9, 34: 8, 38: 7, 42: 6, 46: 5, 50: 4, 54: 3, 62: 1,
    }  # fmt: skip


def test_a_movie_of_111_minutes():
    grid = Grid()
    frames = grid.frames_of(110.77 * 60)
    spans = grid.proposals(frames)
    assert (len(grid.starts(frames)), len(spans), len(distinct(spans))) == (518, 324_268, 191_916)


def test_three_minutes_and_half_a_minute():
    grid = Grid()
    assert len(grid.starts(900)) == 13 and len(grid.proposals(900)) == 8138
    assert len(grid.proposals(150)) == 626


@pytest.mark.parametrize("frames", [0, 1, 100, 128])
def test_a_movie_of_one_window_or_less_has_no_proposal_as_published_and_some_when_covered(frames):
    assert len(Grid().proposals(frames)) == 0
    covered = Grid(tail="cover").proposals(frames)
    assert len(covered) == (626 if frames == 128 else (covered[:, 1] * 2 <= frames).sum())
    assert frames < 2 or len(covered)


@given(st.integers(0, 2000))
def test_covering_leaves_less_than_a_clip_and_publishing_less_than_half_a_window_open(frames):
    published, covered = Grid(), Grid(tail="cover")
    assert covered.uncovered_seconds(frames) < covered.clip_seconds
    assert published.uncovered_seconds(frames) <= (12.8 if frames > 128 else frames / 5)
    assert set(map(tuple, published.proposals(frames))) <= set(map(tuple, covered.proposals(frames)))
    if frames:
        assert covered.seconds(covered.proposals(frames)).max(initial=0) <= frames / 5
