"""Names from files become one part of a path, or are refused."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from verified.errors import InputError
from verified.io.files import file_name, is_inside


@pytest.mark.parametrize("name", ["xml", "a.b-c_d", "Küche 3", "x" * 200])
def test_plain_names_pass(name):
    assert file_name(name, "metrics.json") == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".x", "a/b", "../x", "/x", "a\\b", "a\nb", "a\0b", "\u202ex", "x" * 201, "\ud800", 3, None]
)
def test_other_names_are_refused_with_their_file(name):
    with refused("model", file="metrics.json", remedy=True):
        file_name(name, "metrics.json", "model")


@given(st.text())
def test_whatever_passes_is_one_part_of_a_path(name):
    try:
        passed = file_name(name, "x")
    except InputError:
        return
    assert os.path.normpath(Path("folder", passed)) == f"folder/{name}" and name.count("/") == 0
    assert is_inside(f"a/{name}")


@pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "a//b", "a/./b", "", "a\\b", "a\0"])
def test_paths_that_leave_their_folder(path):
    assert not is_inside(path)
    assert is_inside("models/1_Pooling/config.json")
