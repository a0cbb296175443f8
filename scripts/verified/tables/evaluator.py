"""The table of the noise evaluator: how well it tells disturbed captions, and what its fine-tuning is worth."""

from pathlib import Path

from verified.common.files import write_text
from verified.common.jsonl import read_json
from verified.tables.render import GAP, csv_text, markdown_row

HEADER = ("Data set", "Captions", "Evaluator", "Static AUROC", "Dynamic AUROC", "Faithful", "Static", "Dynamic")
SETS = {"spoiled": "candidates, by the truth", "perturbations": "perturbations never trained on"}
VARIANTS = {
    "no fine-tuning": "not fine-tuned",
    "hard_negatives none": "fine-tuned without disturbed negatives",
    "hard_negatives own": "fine-tuned with its own disturbed negatives",
    "hard_negatives all": "fine-tuned with all disturbed negatives",
}


def write_evaluator(
    folder: Path, settings: dict, validations: list[str], ablations: list[str], provenance: list[str]
) -> None:
    """Write evaluator.csv and evaluator.md, intervals of 95 % over moments.

    validations: results/DATASET/evaluator/validation.json; ablations: results/evaluator/NAME/ablation.json, if made.
    """
    chosen = f"hard_negatives {settings['evaluator']['hard_negatives']}"
    rows = [row for path in ablations for row in read_json(path)]
    known = {(row["dataset"], row["set"]) for row in rows}
    for path in validations:
        found = read_json(path)
        for name, values in found["sets"].items():
            if (found["dataset"], name) not in known:
                rows.append({"dataset": found["dataset"], "set": name, "variant": chosen, **values["auroc"]})
    rows.sort(key=lambda row: (row["dataset"], list(SETS).index(row["set"]), list(VARIANTS).index(row["variant"])))
    lines = [_line(settings["datasets"][row["dataset"]]["title"], row) for row in rows]
    write_text(folder / "evaluator.csv", csv_text(list(HEADER), lines, provenance))
    out = ["# evaluator: faithful captions told from disturbed ones", "", markdown_row(HEADER)]
    out += ["|" + "---|" * len(HEADER), *map(markdown_row, lines), "", *(f"{line}  " for line in provenance)]
    write_text(folder / "evaluator.md", "\n".join(out) + "\n")


def _line(title: str, row: dict) -> list[str]:
    static, dynamic = row["static"], row["dynamic"]
    faithful = sorted({str(static["faithful"]), str(dynamic["faithful"])})
    counts = ["/".join(faithful), str(static["disturbed"]), str(dynamic["disturbed"])]
    return [title, SETS[row["set"]], VARIANTS[row["variant"]], _area(static), _area(dynamic), *counts]


def _area(area: dict) -> str:
    return GAP if area["value"] is None else f"{area['value']:.3f} [{area['low']:.3f}, {area['high']:.3f}]"
