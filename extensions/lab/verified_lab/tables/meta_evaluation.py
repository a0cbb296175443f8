"""Metrics of captions against people, or against the demo's truth."""

from verified.benchmark.correlation import MEASURES
from verified.config import Config
from verified.config.folders import dataset_folder
from verified.io.jsonl import read_json
from verified.tables.collect import Collection
from verified.tables.shown import Shown
from verified.tables.table import Estimate, Table, Value
from verified_lab.config import judged_datasets

HEADINGS = dict(zip(MEASURES, ("Kendall", "Spearman", "AUROC", "Pairs of a clip")))


def inputs(settings: Config) -> list[str]:
    """Metrics side by side, of each data set whose captions are judged."""
    return [f"{dataset_folder(settings, name)}/evaluator/meta_evaluation.json" for name in judged_datasets(settings)]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `meta-evaluation`: a row a metric, of all captions and by kind."""
    rows, judges = [], {}
    for file in files:
        found = read_json(file)
        title = settings.datasets[found["dataset"]].title
        judges[found["judge"]] = None
        for group, entry in found["groups"].items():
            rows += [
                (title, group, metric, entry["captions"], *(_cell(measures[name]) for name in MEASURES))
                for metric, measures in entry["metrics"].items()
            ]
    header = ("Data set", "Captions", "Metric", "n", *HEADINGS.values())
    notes = (
        "In brackets: 95 % interval, whole videos drawn anew. Captions that a metric does not score count for none.",
        "AUROC: right captions told from wrong ones; pairs of a clip: the share ordered as people order them.",
        f"The LMM judge is {', '.join(judges)}. On the demo the truth stands for people: a caption's grade is the share"
        " of its statements that are true, and it is wrong where something was made false on purpose.",
    )
    return [Table("meta-evaluation", "metrics of captions against people", header, rows, notes, digits=3)]


def _cell(measure: dict) -> Value:
    if measure["value"] is None or measure["low"] is None:
        return measure["value"]
    return Estimate(measure["value"], measure["low"], measure["high"])
