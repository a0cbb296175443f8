"""Recall of a video LMM after first stages, as grounder and as re-ranker, with the cost of a query."""

from verified.config import Config
from verified.tables.collect import Collection
from verified.tables.inputs import added_run_files
from verified.tables.layout import UNTRAINED, Column, PaperTable, Row, title_of
from verified.tables.shown import Shown
from verified.tables.table import Table, Value, estimate
from verified_field.runs import first_stage, follow_up_runs

METRICS = (("VCMR", "0.5/r1"), ("VCMR", "0.7/r1"), ("VCMR", "0.5/r10"), ("VR", "r1"), ("SVMR", "0.5/r1"))
SPENT = {"calls": "Calls", "tokens_in": "Tokens read", "tokens_out": "Tokens written", "money": "Money"}
NOTE = (
    "Calls, tokens and money a query: means over the queries of the test, found in the ledger or asked, with all"
    " attempts, money at the configured prices. Rows without LMM are the first stages. Without answer: calls in all."
)


def inputs(settings: Config) -> list[str]:
    """The metrics of all second stages."""
    return added_run_files(settings, follow_up_runs(settings), "metrics.json")


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `lmm`, for runs with a video LMM after a first stage."""
    rows = []
    for name, data_set in settings.datasets.items():
        for row in _rows(collection, name):
            run = collection.run_of(row, name)
            if run is None:
                continue
            costs = [metrics["cost"] for metrics in run.metrics if "cost" in metrics]
            spent: list[Value] = [
                sum(cost["per_query"][key] for cost in costs) / len(costs) if costs else 0.0 for key in SPENT
            ]
            lost = sum(cost["without_answer"] for cost in costs)
            rows.append((data_set.title, row.method, *_recalls(collection, name, row), *spent, lost))
    header = ("Data set", "Method", *(" ".join(metric) for metric in METRICS), *SPENT.values(), "Without answer")
    digits = (*(2 for _ in header[: -len(SPENT) - 1]), 2, 1, 1, 5, 0)
    return [Table("lmm", "a video LMM as grounder and re-ranker", header, rows, (NOTE,), digits)]


def _rows(collection: Collection, name: str) -> list[Row]:
    """First stages, each before the rows that depend on it."""
    steps = {
        (first_stage(model), model, trained_on)
        for dataset, model, trained_on, _ in collection.runs
        if dataset == name and first_stage(model) != model
    }
    rows = {}
    for first, model, trained_on in sorted(steps):
        for named in (first, model):
            title = title_of(named)
            rows[title] = Row((title,), title, trained_on if trained_on == UNTRAINED else "FIG", "FIG")
    return list(rows.values())


def _recalls(collection: Collection, name: str, row: Row) -> list[Value]:
    columns = tuple(Column(task, metric, task, metric) for task, metric in METRICS)
    cells = collection.cells(PaperTable("lmm", "", ("Method",), (row,), columns), name)
    return [
        None
        if cell.value is None or cell.low is None or cell.high is None
        else estimate(cell.value, cell.low, cell.high, cell.trainings)
        for cell in (cells[row, column] for column in columns)
    ]
