"""The table of outcomes: what became of every call to a model, by task."""

from pathlib import Path

from verified.common.files import write_text
from verified.common.jsonl import read_json
from verified.tables.render import csv_text, markdown_row

HEADER = ("Data set", "Stage", "Task", "Calls", "ok", "truncated", "invalid", "blocked", "error", "Reasons")


def write_outcomes(folder: Path, settings: dict, paths: list[str], provenance: list[str]) -> None:
    """Write outcomes.csv and outcomes.md from results/DATASET/captions/outcomes.json of each data set."""
    lines = [line for path in paths for line in _lines(settings["datasets"][Path(path).parts[-3]]["title"], path)]
    write_text(folder / "outcomes.csv", csv_text(list(HEADER), lines, provenance))
    out = ["# outcomes: what became of every call to a model", "", markdown_row(HEADER), "|" + "---|" * len(HEADER)]
    out += [markdown_row(map(str, line)) for line in lines]
    out += ["", *(f"{line}  " for line in provenance)]
    write_text(folder / "outcomes.md", "\n".join(out) + "\n")


def _lines(title: str, path: str) -> list[list]:
    lines = []
    for stage, counts in read_json(path).items():
        for task in counts["tasks"]:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in task["reasons"].items())
            lines.append([title, stage, task["task"], task["calls"], *(task[name] for name in HEADER[4:9]), reasons])
    return lines
