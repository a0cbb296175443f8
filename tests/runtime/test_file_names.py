"""Paths from files stay below their folder, or are refused; names of draws and shards stay apart; what jobs ask for."""

import re
from types import SimpleNamespace

import pytest

from verified.io.files import is_inside
from verified.runtime.resources import extra_tries, limited_minutes, shard_priority
from verified.runtime.seeds import derive_seed
from verified.runtime.wildcards import one_of


@pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "a//b", "a/./b", "", "a\\b", "a\0"])
def test_paths_that_leave_their_folder(path):
    assert not is_inside(path)
    assert is_inside("models/1_Pooling/config.json")


def test_names_of_draws_are_not_joined_and_no_names_match_nothing():
    assert derive_seed(1, "a", "bc") != derive_seed(1, "ab", "c") and not re.fullmatch(one_of([]), "")


def test_jobs_of_early_shards_come_first_and_a_retry_gets_more_time_up_to_the_limit():
    assert [shard_priority(4)(SimpleNamespace(shard=f"shard-0{n}")) for n in range(3)] == [2, 1.75, 1.5]
    assert [limited_minutes(100, 40)(None, attempt=attempt) for attempt in (1, 2, 3)] == [40, 80, 100]
    assert [extra_tries(60, minutes) for minutes in (60, 61, 150)] == [None, 3, 4]
