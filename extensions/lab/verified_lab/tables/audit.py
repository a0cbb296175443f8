"""The tables of the audit: findings in each split, and recall on clean queries alone."""

from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.benchmark.vcmr.results import read_per_query
from verified.config import Config
from verified.config.folders import dataset_folder, shown_datasets
from verified.io.jsonl import read_json, read_jsonl
from verified.runtime.wildcards import key_of
from verified.tables.collect import Collection
from verified.tables.layout import TITLES
from verified.tables.shown import Shown
from verified.tables.table import Table, Value, estimate
from verified_lab.config import Audit

METRICS = ("VCMR/0.5/r1", "VCMR/0.7/r1", "SVMR/0.5/r1", "SVMR/0.7/r1")


def inputs(settings: Config) -> list[str]:
    """Findings and their numbers of each data set; empty without the audit."""
    if not settings.has(Audit):
        return []
    folders = [f"{dataset_folder(settings, name)}/audit" for name in shown_datasets(settings)]
    return [f"{folder}/{name}" for folder in folders for name in ("summary.json", "findings.jsonl")]


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `audit`, and `audit-clean` if models were tested."""
    of_name: dict[str, dict[str, str]] = {"summary": {}, "findings": {}}
    for file in files:
        path = Path(file)
        of_name[path.stem][key_of("/".join(path.parts[1:-2]))] = file
    summaries = {key: read_json(file) for key, file in of_name["summary"].items()}
    sheets = [_numbers(settings, summaries)]
    flagged = {
        key: {(row["split"], row["id"]) for row in read_jsonl(file)} for key, file in of_name["findings"].items()
    }
    clean = [row for key in flagged for row in _recall(settings, collection, key, flagged[key])]
    if clean:
        note = "In brackets: 95 % interval over test videos, drawn with all of their queries, and over trainings."
        header = ("Data set", "Method", "Train", "Test", "Queries", "n", *METRICS)
        sheets.append(
            Table("audit-clean", "recall on all queries and on those without findings", header, clean, (note,))
        )
    return sheets


def _numbers(settings: Shown, summaries: dict[str, dict]) -> Table:
    checks = list(next(iter(summaries.values()))["all"]["checks"])
    rows = [
        (settings.datasets[key].title, split, counts["queries"], *counts["checks"].values(), counts["clean"])
        for key, summary in summaries.items()
        for split, counts in summary["splits"].items()
    ]
    note = "A query counts once for each check; clean ones have no finding. No number: the check could not be made."
    return Table(
        "audit", "queries and spans under audit", ("Data set", "Split", "Queries", *checks, "clean"), rows, (note,)
    )


def _recall(settings: Shown, collection: Collection, key: str, flagged: set[tuple[str, str]]) -> list[list[Value]]:
    """Two rows for each model that was trained and tested on the finest captions: all queries, and the clean ones."""
    rows, finest = [], collection.finest_captions(key)
    for (dataset, model, trained, tested), run in sorted(collection.runs.items()):
        if dataset != key or (trained, tested) != (finest, finest):
            continue
        answers, split = read_per_query(run.folders), run.metrics[0]["split"]
        clean = np.array([(split, str(number)) not in flagged for number in answers.desc_id])
        for name, chosen in (("all", np.ones(len(clean), bool)), ("clean", clean)):
            if not chosen.any():
                continue
            values = np.stack([100 * answers.values[metric][:, chosen] for metric in METRICS], axis=2)
            intervals = mean_interval(values, answers.video[chosen], top=100)
            cells = [
                estimate(value, low, high, len(run.folders))
                for value, low, high in zip(intervals.value, intervals.low, intervals.high)
            ]
            title = settings.datasets[key].title
            rows.append([title, TITLES.get(model, model), trained, tested, name, int(chosen.sum()), *cells])
    return rows
