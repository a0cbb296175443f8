"""Tables beyond the paper's: available published annotations, the evaluator, a corpus of one's own."""

from types import SimpleNamespace

import pytest
from shown_settings import shown_settings

from verified.lmm.ledger_files import lineage_of
from verified.tables.added.availability import METRICS, availability_tables
from verified.tables.collect import Run
from verified.tables.own_corpus import costs_table

SETTINGS = shown_settings({"sta": "STA", "demo": "Demo"})
COUNTS = {
    "train": {"videos": 10, "videos_at_hand": 9, "moments": 30, "moments_at_hand": 25},
    "test": {"videos": 8, "videos_at_hand": 4, "moments": 20, "moments_at_hand": 12},
}


def test_missing_videos_count_as_missed():
    metrics = {task: {metric: value for _, metric in METRICS} for task in ("VCMR", "VR") for value in (40.0,)}
    facts = {"queries": 10, "split": "test", "metrics": metrics}
    run, ranker = Run([facts] * 2), Run([{**facts, "localises": False}])
    runs = {("sta", "xml", "fig", "cog"): run, ("demo", "xml", "fig", "cog"): run, ("sta", "zap", "fig", "cog"): ranker}
    collection = SimpleNamespace(statistics={("sta", "counts"): {"published": COUNTS}}, runs=runs)
    numbers, recalls = availability_tables(SETTINGS, collection)
    assert numbers.rows == (("STA", "train", 10, 9, 30, 25), ("STA", "test", 8, 4, 20, 12))
    row, ranks = recalls.rows  # the demo is published nowhere
    assert ranks[6:] == (*[None] * 8, *[40.0, 20.0] * 2)
    assert row[:6] == ("STA", "XML", "fig", "cog", 10, 20)
    assert row[6:] == pytest.approx([40.0, 20.0] * len(METRICS)), "half of the published queries could be asked"
    assert len(recalls.header) == len(row)


def call(task: str, status: str = "ok", **more) -> dict:
    numbers = {"attempts": 1, "tokens_in": 10, "tokens_out": 4, "cost": 0.5, "seconds": 2.0}
    return {"task": task, "model": "m", "status": status, **numbers, **more}


def test_costs_count_each_call_once_and_tell_them_of_a_moment():
    rows = [
        {"lineage": {"questions": "a", "answers": "b"}, "candidates": [{"lineage": "c"}, {"lineage": "c"}]},
        {"keyframes": [{"lineage": "d"}, {"lineage": "gone"}]},
    ]
    keys = list(lineage_of(rows))
    assert sorted(set(keys)) == ["a", "b", "c", "d", "gone"]
    ledger = {
        "a": call("questions"),
        "b": call("answers", attempts=3, status="blocked"),
        "c": call("questions"),
        "d": call("describe"),
    }
    table = costs_table("Kitchen", "kitchen", keys, ledger.get, 2)
    rows = {row[0]: row[2:] for row in table.rows}
    assert rows["questions"] == (2, 0, 2, 20, 8, 1.0, 4.0) and rows["answers"][:3] == (1, 1, 3)
    assert rows["all"] == (4, 1, 6, 40, 16, 2.0, 8.0)
    assert rows["all, of an annotated moment"] == (2.0, 0.5, 3.0, 20.0, 8.0, 1.0, 4.0)
    assert "1 calls are not in the ledger any more." in table.notes
