"""The validity table: what the demo's stages did, against what was drawn."""

from verified.tables.collect import Collection
from verified.tables.simple import Estimate, SimpleTable, Value

HEADER = ("Data set", "Check", "Value", "Units", "Of", "Aim", "Met")


def validity_table(settings: dict, collection: Collection) -> SimpleTable:
    """A row per check of the data sets that have a truth."""
    rows = [
        _row(values["title"], check)
        for dataset, values in settings["datasets"].items()
        for check in collection.statistics.get((dataset, "validity"), {"checks": []})["checks"]
    ]
    return SimpleTable("validity", "the demo's stages against its truth", HEADER, rows, digits=3)


def _row(title: str, check: dict) -> list[Value]:
    value = check["value"]
    if check["low"] is not None:
        value = Estimate(value, check["low"], check["high"])
    met = {None: "", True: "yes", False: "no"}[check["met"]]
    return [title, check["check"], value, check["units"], check["unit"], check["aim"], met]
