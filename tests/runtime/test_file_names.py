"""Paths from files stay below their folder, or are refused."""

import pytest

from verified.io.files import is_inside


@pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "a//b", "a/./b", "", "a\\b", "a\0"])
def test_paths_that_leave_their_folder(path):
    assert not is_inside(path)
    assert is_inside("models/1_Pooling/config.json")
