"""The table of the noise evaluator."""

from shown_settings import shown_settings

from verified.io.jsonl import write_json
from verified.tables.added.evaluator import evaluator_table

AREA = {"faithful": 10, "perturbed": 5, "value": 0.7, "low": 0.6, "high": 0.8}
NONE = {"faithful": 0, "perturbed": 5, "value": None, "low": None, "high": None}
SETTINGS = shown_settings({"one": "One", "two": "Two"})


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
    table = evaluator_table(SETTINGS, validations, [str(tmp_path / "ablation.json")])
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
    table = evaluator_table(SETTINGS, [], [str(tmp_path / "ablation.json")])
    assert [row[1:3] for row in table.rows] == [
        ("candidates, by the truth", "not fine-tuned"),
        ("candidates, by the truth", "mine"),
        ("mine", "fine-tuned with all perturbed negatives"),
    ]
