"""The validity table: results of the demo's stages against the truth."""

from verified.config import Config
from verified.config.folders import dataset_folder, shown_datasets
from verified.tables.collect import Collection
from verified.tables.shown import Shown
from verified.tables.table import ONE_TRAINING_NOTE, Estimate, Table, Value, aim_text

HEADER = ("Data set", "Check", "Value", "Units", "Of", "Aim", "Met")


def inputs(settings: Config) -> list[str]:
    """Checks of each data set whose truth is known."""
    return [
        f"{dataset_folder(settings, name)}/statistics/validity.json" for name in shown_datasets(settings, "has_truth")
    ]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """A row per check of the data sets that have a truth; `collection` has read the `files`."""
    rows = [
        _row(data_set.title, check)
        for dataset, data_set in settings.datasets.items()
        for check in collection.statistics.get((dataset, "validity"), {"checks": []})["checks"]
    ]
    notes = [
        "In brackets: 95 % interval, of shares over moments (of proposed moments: over videos), of AUROC by resampling"
        " moments, of differences in recall over test videos, drawn with all of their queries, and over trainings."
    ]
    if any(isinstance(row[2], Estimate) and row[2].trainings == 1 for row in rows):
        notes.append(ONE_TRAINING_NOTE)
    return [Table("validity", "the demo's stages against its truth", HEADER, rows, notes, 3)]


def _row(title: str, check: dict) -> list[Value]:
    value = check["value"]
    if check["low"] is not None:
        value = Estimate(value, check["low"], check["high"], check["trainings"], check.get("share", False))
    met = {None: "", True: "yes", False: "no"}[check["met"]]
    if check["aim"] and check["trainings"] == 1:
        met = "one training"
    return [title, check["check"], value, check["units"], check["unit"], aim_text(check), met]
