"""The table of outcomes: the outcomes of all calls to a model, by task."""

from pathlib import Path

from verified.config import Config
from verified.config.folders import dataset_folder, shown_datasets
from verified.io.jsonl import read_json
from verified.lmm.request import STATUSES
from verified.tables.collect import Collection
from verified.tables.shown import Shown
from verified.tables.table import Table


def inputs(settings: Config) -> list[str]:
    """Outcomes of each data set whose annotations the workflow makes."""
    return [
        f"{dataset_folder(settings, name)}/captions/outcomes.json"
        for name in shown_datasets(settings, "annotated_here")
    ]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """A row per task from results/DATASET/captions/outcomes.json of each data set."""
    rows = [row for path in files for row in _rows(settings.datasets[Path(path).parts[-3]].title, path)]
    header = ("Data set", "Stage", "Task", "Calls", *STATUSES, "Reasons")
    return [Table("outcomes", "what became of every call to a model", header, rows)]


def _rows(title: str, path: str) -> list[list]:
    rows = []
    for stage, counts in read_json(path).items():
        for task in counts["tasks"]:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in task["reasons"].items())
            rows.append([title, stage, task["task"], task["calls"], *(task[name] for name in STATUSES), reasons])
    return rows
