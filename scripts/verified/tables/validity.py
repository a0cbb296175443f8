"""The validity table: what the demo's stages found, against what was drawn."""

from pathlib import Path

from verified.common.files import write_text
from verified.tables.collect import Collection
from verified.tables.render import GAP, csv_text, markdown_row

HEADER = ("Data set", "Check", "Value", "95 % interval", "Units", "Aim", "Met")


def write_validity(folder: Path, settings: dict, collection: Collection, provenance: list[str]) -> None:
    """Write validity.csv and validity.md for the data sets that have a truth."""
    lines = []
    for dataset, values in settings["datasets"].items():
        found = collection.statistics.get((dataset, "validity"))
        lines += [_line(values["title"], check) for check in found["checks"]] if found else []
    write_text(folder / "validity.csv", csv_text(list(HEADER), lines, provenance))
    out = ["# validity: the demo's stages against its truth", "", markdown_row(HEADER), "|" + "---|" * len(HEADER)]
    out += [markdown_row(line) for line in lines]
    out += ["", *(f"{line}  " for line in provenance)]
    write_text(folder / "validity.md", "\n".join(out) + "\n")


def _line(title: str, check: dict) -> list[str]:
    value = GAP if check["value"] is None else f"{check['value']:.3f}"
    bounds = GAP if check["low"] is None else f"[{check['low']:.3f}, {check['high']:.3f}]"
    met = {None: "", True: "yes", False: "no"}[check["met"]]
    return [title, check["check"], value, bounds, f"{check['units']} {check['unit']}", check["aim"], met]
