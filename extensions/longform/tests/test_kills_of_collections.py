"""A collection of described movies, killed before each change of a file, and repeated."""

import pytest
from faults.test_kill_points import given
from kill_points import finished_by_repeating
from whole_longform import transcript_files


@pytest.mark.night
def test_a_killed_collection_is_finished_by_repeating(tmp_path, monkeypatch, record_property):
    start = tmp_path / "start"
    start.mkdir()
    transcript_files(start)
    monkeypatch.chdir(tmp_path)
    command = given(
        *["longform", "collect", "movies.csv", "--output", "out", "--rate", "1000", "--window", "2", "--most", "1"]
    )
    kills = finished_by_repeating(start, tmp_path / "place", command)
    record_property("faults", kills)
    assert kills > 2
