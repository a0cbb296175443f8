"""Findings of `verified check` about filters of moments."""

from pathlib import Path

import yaml
from running import NANO

from verified.config import load
from verified.io.jsonl import write_jsonl
from verified_lab.stage import SELECTION

MOMENTS = [{"video": "a", "start": 0}, {"video": "a", "start": 1}, {"video": "b", "start": 0}]


def findings(settings) -> tuple[list, list]:
    found, walk = [], SELECTION.findings(settings, "nano", MOMENTS, [])
    while True:
        try:
            found.append(next(walk))
        except StopIteration as stop:
            return found, stop.value


def test_moments_that_limits_leave_out_are_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nano = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    settings = load({**nano, "filters": {"datasets": {"nano": {"max_black": 0.5}}}})
    (unmeasured,), staying = findings(settings)
    assert unmeasured.level == "note" and "3 of 3" in unmeasured.message and staying == MOMENTS
    write_jsonl(
        Path("results/nano/corpus/shards/shard-00.quality.jsonl"),
        [{"video": "a", "start": 0, "black": 0.9}, {"video": "b", "start": 0, "black": 0.1}],
    )
    (unmeasured, left_out), staying = findings(settings)
    assert "1 of 3" in unmeasured.message and "1 of 3" in left_out.message and staying == MOMENTS[1:]
