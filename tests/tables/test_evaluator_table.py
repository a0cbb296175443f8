"""The table of the noise evaluator."""

from verified.common.jsonl import write_json
from verified.tables.evaluator import write_evaluator

AREA = {"faithful": 10, "disturbed": 5, "value": 0.7, "low": 0.6, "high": 0.8}
NONE = {"faithful": 0, "disturbed": 5, "value": None, "low": None, "high": None}
SETTINGS = {"evaluator": {"hard_negatives": "all"}, "datasets": {"one": {"title": "One"}, "two": {"title": "Two"}}}


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
    write_evaluator(tmp_path, SETTINGS, validations, [str(tmp_path / "ablation.json")], ["seed 1"])
    lines = (tmp_path / "evaluator.md").read_text().splitlines()
    table = [line for line in lines if line.startswith(("| One", "| Two"))]
    assert [line.split(" | ")[2] for line in table] == [
        "not fine-tuned", "fine-tuned without disturbed negatives", "fine-tuned with all disturbed negatives",
        "fine-tuned with all disturbed negatives",
    ]  # fmt: skip
    assert "0.700 [0.600, 0.800] | – | 0/10 | 5 | 5" in table[-1]
    assert "seed 1" in (tmp_path / "evaluator.csv").read_text()
