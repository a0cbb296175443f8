"""Tables beyond the paper's: what is available of published annotations, the evaluator, a data set of one's own."""

from types import SimpleNamespace

import pytest
from shown_settings import shown_settings

from verified.io.jsonl import write_json
from verified.tables.added.availability import METRICS, availability_lines, availability_tables
from verified.tables.added.evaluator import evaluator_table
from verified.tables.own_corpus import corpus_table, costs_table, lineage_of

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


AREA = {"faithful": 10, "perturbed": 5, "value": 0.7, "low": 0.6, "high": 0.8}
NONE = {"faithful": 0, "perturbed": 5, "value": None, "low": None, "high": None}
TWO_SETS = shown_settings({"one": "One", "two": "Two"})


def test_variants_stand_in_order_and_no_row_twice(tmp_path):
    validations = []
    for name in ("one", "two"):
        sets = {"perturbations": {"auroc": {"static": AREA, "dynamic": NONE}}}
        validations.append(str(tmp_path / f"{name}.json"))
        write_json(validations[-1], {"dataset": name, "sets": sets})
    variants = ("hard_negatives all", "hard_negatives none", "no fine-tuning")
    rows = [
        {"dataset": "one", "set": "perturbations", "variant": name, "static": AREA, "dynamic": AREA}
        for name in variants
    ]
    write_json(tmp_path / "ablation.json", rows)
    table = evaluator_table(TWO_SETS, validations, [str(tmp_path / "ablation.json")])
    assert [row[:3] for row in table.texts()] == [
        ["One", "perturbations never trained on", "not fine-tuned"],
        ["One", "perturbations never trained on", "fine-tuned without perturbed negatives"],
        ["One", "perturbations never trained on", "fine-tuned with all perturbed negatives"],
        ["Two", "perturbations never trained on", "fine-tuned with all perturbed negatives"],
    ]
    assert table.texts()[-1][3:] == ["0.700 [0.600, 0.800]", "10", "5", "–", "0", "5"]


def test_a_set_and_a_variant_of_someone_else_come_last_under_their_own_names(tmp_path):
    rows = [
        {"dataset": "one", "set": name, "variant": variant, "static": AREA, "dynamic": AREA}
        for name, variant in (("mine", "hard_negatives all"), ("corrupted", "mine"), ("corrupted", "no fine-tuning"))
    ]
    write_json(tmp_path / "ablation.json", rows)
    table = evaluator_table(TWO_SETS, [], [str(tmp_path / "ablation.json")])
    assert [row[1:3] for row in table.rows] == [
        ("candidates, by the truth", "not fine-tuned"),
        ("candidates, by the truth", "mine"),
        ("mine", "fine-tuned with all perturbed negatives"),
    ]


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
    numbers = {"attempts": 1, "tokens_in": 10, "tokens_out": 4, "cost": 0.5, "seconds": 2.0}
    return {"task": task, "model": "m", "status": status, **numbers, **more}


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
