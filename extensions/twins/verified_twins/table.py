"""Accuracy of each model against the twins of its test queries."""

from verified.config import Config
from verified.config.folders import dataset_folder
from verified.io.jsonl import read_json
from verified.tables.collect import Collection
from verified.tables.layout import title_of
from verified.tables.shown import Shown
from verified.tables.table import Table, Value, estimate
from verified_twins.accuracy import TASKS
from verified_twins.config import Twins, annotated

KIND_TITLES = {
    "statics": "static, perturbed",
    "dynamics": "dynamic, perturbed",
    "negated": "negated",
    "reversed": "reversed in time or direction",
}


def inputs(settings: Config) -> list[str]:
    """The preferences of each data set's models."""
    if not settings.has(Twins):
        return []
    return [f"{dataset_folder(settings, name)}/twins/accuracy.json" for name in annotated(settings)]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `twins`: a row a model and kind of twin."""
    rows: list[tuple[Value, ...]] = []
    for file in files:
        result = read_json(file)
        title = settings.datasets[result["dataset"]].title
        for model, kinds in result["models"].items():
            rows += [
                (title, title_of(model), KIND_TITLES[kind], entry["queries"], entry["trainings"], *_cells(entry))
                for kind, entry in kinds.items()
            ]
    header = ("Data set", "Method", "Twin", "Queries", "Trainings", "SVMR", "VCMR")
    notes = (
        "Percent of coarse test queries whose true sentence is preferred to its twin, by models trained on fine"
        " captions; chance is 50, a tie counts a half. SVMR: the score of the true moment (tIoU of 0.5), VCMR: the rank"
        " of its video.",
        "In brackets: 95 % interval over test videos and trainings. Perturbed twins are those of Equation 8, written by"
        " the LLM; a few may be true as well. Negated and reversed ones are made by rule where a sentence allows it.",
    )
    return [Table("twins", "preference for the true sentence over its twin", header, rows, notes)]


def _cells(entry: dict) -> list[Value]:
    cells: list[Value] = []
    for task in TASKS:
        accuracy = entry["tasks"].get(task)
        low, high = (None, None) if accuracy is None else (accuracy["low"], accuracy["high"])
        if accuracy is None:
            cells.append(None)
        elif low is None or high is None:
            cells.append(round(accuracy["value"], 2))
        else:
            cells.append(estimate(accuracy["value"], low, high, entry["trainings"]))
    return cells
