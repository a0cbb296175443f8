"""What `verified check` says of filters of moments."""

from pathlib import Path

import pytest
from planning import test_check as shared

from verified.io.jsonl import write_jsonl

lab = shared.lab


def leave_out():
    """A quality table in which two moments are black, and one is not measured."""
    measured = [("kitchen/a", 0, 0.9), ("kitchen/a", 1, 0.9), ("street", 0, 0.1)]
    table = [{"video": video, "start": start, "black": black} for video, start, black in measured]
    write_jsonl(Path("results/lab/corpus/shards/shard-00.quality.jsonl"), table)


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (False, "note|4 of 4|quote --look"),
        (True, "note|1 of 4|quote --look"),
        (True, "problem|evaluator.batch|2 usable"),
    ],
)
def test_moments_that_limits_leave_out_are_counted(lab, capsys, measured, said):
    lab("http://127.0.0.1:9", filters={"datasets": {"lab": {"max_black": 0.5}}})
    if measured:
        leave_out()
    _, lines = shared.check(capsys, "--offline")
    assert any(all(word in line for word in said.split("|")) for line in lines)
