"""A run as one folder to archive, killed before each change of a file, and repeated."""

import json

import pytest
from faults import test_kill_points as shared
from kill_points import finished_by_repeating
from test_crate import VALUES, finished_run


@pytest.mark.night
def test_a_crate(tmp_path, monkeypatch, record_property):
    """A part of it is never left under its name."""
    start, place = tmp_path / "start", tmp_path / "place"
    start.mkdir()
    monkeypatch.chdir(start)
    finished_run()
    (start / "lab.yaml").write_text(json.dumps(VALUES))
    command = shared.given("export", "--form", "crate", "--configfile", "lab.yaml")
    kills = finished_by_repeating(start, place, command, every=17)  # most are copies of the workflow's many files
    record_property("faults", kills)
    assert kills > 5 and (place / "results/lab/export/crate/ro-crate-metadata.json").is_file()
