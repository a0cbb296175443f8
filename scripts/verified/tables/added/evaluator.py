"""The table of the noise evaluator: accuracy on perturbed captions, and the gain of its fine-tuning."""

from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder, evaluator_folder, shown_datasets
from verified.io.jsonl import read_json
from verified.tables.collect import Collection
from verified.tables.inputs import own_corpora
from verified.tables.shown import Shown
from verified.tables.table import Estimate, Table, Value

HEADER = (
    *("Data set", "Captions", "Evaluator"),
    *("Static AUROC", "of faithful", "and static"),
    *("Dynamic AUROC", "of faithful captions", "and dynamic"),
)
ABLATION = "ablation.json"
SETS = {"corrupted": "candidates, by the truth", "perturbations": "perturbations never trained on"}
VARIANTS = {
    "no fine-tuning": "not fine-tuned",
    "hard_negatives none": "fine-tuned without perturbed negatives",
    "hard_negatives own": "fine-tuned with its own perturbed negatives",
    "hard_negatives all": "fine-tuned with all perturbed negatives",
}


def inputs(settings: Config) -> list[str]:
    """Validation on users' corpora; with `evaluator.ablation`, on every corpus annotated here, and the ablation."""
    ablating = settings.evaluator.ablation
    validated = shown_datasets(settings, "annotated_here") if ablating else own_corpora(settings)
    ablation = [f"{evaluator_folder(settings)}/{ABLATION}"] if ablating and validated else []
    return [*(f"{dataset_folder(settings, name)}/evaluator/validation.json" for name in validated), *ablation]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """A row per data set, set of captions and variant of fine-tuning; intervals of 95 % over moments."""
    ablations = [file for file in files if Path(file).name == ABLATION]
    configured = f"hard_negatives {settings.evaluator.hard_negatives}"
    rows = [row for path in ablations for row in read_json(path)]
    sets = {(row["dataset"], row["set"]) for row in rows}
    for path in (file for file in files if file not in ablations):
        validation = read_json(path)
        for name, values in validation["sets"].items():
            if (validation["dataset"], name) not in sets:
                rows.append({"dataset": validation["dataset"], "set": name, "variant": configured, **values["auroc"]})
    rows.sort(key=lambda row: (row["dataset"], _rank(row["set"], SETS), _rank(row["variant"], VARIANTS)))
    lines = [_line(settings.datasets[row["dataset"]].title, row) for row in rows]
    return [Table("evaluator", "faithful captions told from perturbed ones", HEADER, lines, digits=3)]


def _rank(name: str, order: dict) -> tuple[int, str]:
    """Known names in their order, others behind them by name."""
    return (list(order).index(name) if name in order else len(order)), name


def _line(title: str, row: dict) -> list[Value]:
    areas = [entry for kind in ("static", "dynamic") for entry in _area(row[kind])]
    return [title, SETS.get(row["set"], row["set"]), VARIANTS.get(row["variant"], row["variant"]), *areas]


def _area(area: dict) -> list[Value]:
    value = None if area["value"] is None else Estimate(area["value"], area["low"], area["high"])
    return [value, area["faithful"], area["perturbed"]]
