"""Published annotations of which not all videos are at hand: n of N, and recall with what is missing as missed."""

from types import SimpleNamespace

import pytest
from shown_settings import shown_settings

from verified.tables.added.availability import METRICS, availability_lines, availability_tables

SETTINGS = shown_settings({"sta": "STA", "demo": "Demo"})
COUNTS = {
    "train": {"videos": 10, "videos_at_hand": 9, "moments": 30, "moments_at_hand": 25},
    "test": {"videos": 8, "videos_at_hand": 4, "moments": 20, "moments_at_hand": 12},
}


def collection(split: str) -> SimpleNamespace:
    recalls = {task: {metric: value for _, metric in METRICS} for task in ("VCMR", "VR") for value in (40.0,)}
    run = SimpleNamespace(metrics=[{"queries": 10, "split": split, "metrics": recalls}] * 2)
    runs = {("sta", "xml", "fig", "cog"): run, ("demo", "xml", "fig", "cog"): run}
    return SimpleNamespace(statistics={("sta", "counts"): {"published": COUNTS}}, runs=runs)


def test_what_is_missing_counts_as_missed():
    numbers, recalls = availability_tables(SETTINGS, collection("test"))
    assert numbers.rows == (("STA", "train", 10, 9, 30, 25), ("STA", "test", 8, 4, 20, 12))
    (row,) = recalls.rows  # the demo is published nowhere
    assert row[:6] == ("STA", "XML", "fig", "cog", 10, 20)
    assert row[6:] == pytest.approx([40.0, 20.0] * len(METRICS)), "half of the published queries could be asked"
    assert len(recalls.header) == len(row)


def test_every_table_says_how_much_is_at_hand():
    (line,) = availability_lines(SETTINGS, collection("test"))
    assert line == (
        "STA, at hand of what is published: train: 9 of 10 videos, 25 of 30 moments; "
        "test: 4 of 8 videos, 12 of 20 moments."
    )


def test_a_run_without_published_data_sets_has_no_such_table():
    nothing = SimpleNamespace(statistics={}, runs={})
    assert availability_lines(SETTINGS, nothing) == []
