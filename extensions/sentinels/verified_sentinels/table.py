"""Captions of rendered moments, against their truth."""

from verified.config import Config
from verified.io.jsonl import read_json
from verified.tables.collect import Collection
from verified.tables.shown import Shown
from verified.tables.table import Table, Value, estimate
from verified_sentinels.config import captioned, folder, is_asked


def inputs(settings: Config) -> list[str]:
    """The measures of each data set."""
    return [f"{folder(settings, name)}/measures.json" for name in captioned(settings)] if is_asked(settings) else []


def tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]:
    """Table `sentinels`: a row a data set and check."""
    rows: list[tuple[Value, ...]] = []
    for file in files:
        result = read_json(file)
        title = settings.datasets[result["dataset"]].title
        rows += [
            (title, check["check"], _cell(check), f"{check['units']} {check['unit']}") for check in result["checks"]
        ]
    notes = (
        "Percent, in captions of rendered moments that were asked among the real ones, with 95 % interval over moments."
        " They are in no other table, and in no file of the data set.",
        "Only statements that a reader of simple English finds are judged; a rendered scene is easier or harder than a"
        " real video, so this compares models and times of a run and is no accuracy on real videos.",
    )
    return [Table("sentinels", "captions of moments of known truth", ("Data set", "Check", "%", "Of"), rows, notes)]


def _cell(check: dict) -> Value:
    if check["value"] is None:
        return None
    if not check.get("share"):
        return check["value"]
    low, high = (check[name] for name in ("low", "high"))
    value = 100 * check["value"]
    return round(value, 2) if low is None else estimate(value, 100 * low, 100 * high, None)
