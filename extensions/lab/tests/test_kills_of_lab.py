"""The audit, killed before each change of a file, and repeated."""

import pytest
from faults import test_kill_points as shared
from kill_points import finished_by_repeating
from whole_people import audit_files


@pytest.mark.night
def test_audit(tmp_path):
    start = tmp_path / "start"
    start.mkdir()
    audit_files(start)
    audit = shared.given("audit", "train.jsonl", "test.jsonl", "--output", "out")
    kills = finished_by_repeating(start, tmp_path / "place", audit)
    assert kills > 2
