"""Tables of a data set of one's own: counts with reasons, and costs by task and model."""

from verified.config import load
from verified.tables.inputs import own_corpora
from verified.tables.own_corpus import corpus_table, costs_table, lineage_of

CORPUS = {
    "rows": 9,
    "moments": 7,
    "excluded_rows": {"empty-caption": 2},
    "splits": {"test": 7},
    "videos_found": 4,
    "videos": 3,
    "excluded_videos": {"no-decoder": 1},
    "partial_videos": 1,
    "identical_videos": 0,
    "clamped_ends": [{"desc_id": 1}],
}
ANNOTATIONS = {
    "candidates": 30,
    "annotated": 5,
    "without": {"rejected": 1, "no-scored-candidate": 1},
    "selection": {"accepted": 2, "kept": 3},
}


def call(task: str, status: str = "ok", **more) -> dict:
    row = {
        "task": task,
        "model": "m",
        "status": status,
        "attempts": 1,
        "tokens_in": 10,
        "tokens_out": 4,
        "cost": 0.5,
        "seconds": 2.0,
    }
    return row | more


def test_what_came_in_and_out_is_told_with_its_reasons():
    table = corpus_table("Kitchen", "kitchen", CORPUS, ANNOTATIONS)
    assert table.key == "corpus-kitchen"
    rows = [tuple(row) for row in table.rows]
    assert ("rows left out", 2, "empty-caption") in rows and ("videos left out", 1, "no-decoder") in rows
    assert ("videos used", 3, "1 of them damaged in part") in rows and ("moments annotated", 5, "") in rows
    assert ("moments not annotated", 1, "rejected") in rows and ("by selection", 2, "accepted") in rows


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


def test_only_folders_of_ones_own_have_them():
    folder = {"title": "K", "source": {"kind": "folder", "videos": "v", "moments": "m.csv"}}
    demo = {"title": "D", "source": {"kind": "demo"}}
    assert own_corpora(load({"name": "k", "datasets": {"k": folder, "d": demo}})) == ["k"]
