"""What a run took: Snakemake's benchmark files and the jobs' own logs, summed per rule."""

import contextlib
import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from verified.errors import InputError
from verified.planning.plan import stage_of_rule

_DONE = re.compile(r"(\d+)/\1 (\w+) \(100 %\)")


@dataclass
class ResourceUse:
    """Sums over the jobs of one rule: wall and CPU seconds, largest memory in MB, and the items that were worked on."""

    stage: str
    rule: str
    jobs: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    most_mb: float = 0.0
    items: Counter = field(default_factory=Counter)

    @property
    def rate(self) -> str:
        """The most numerous items per second of wall time, such as ``12.3 moments/s``; empty without any."""
        if not self.items or not self.seconds:
            return ""
        unit, count = self.items.most_common(1)[0]
        return f"{count / self.seconds:.3g} {unit}/s"


def resource_use(logs: Path) -> list[ResourceUse]:
    """Rows in the order of the stages, from the last run of each job. Raises InputError where there is nothing."""
    stages = stage_of_rule()
    rows: dict[str, ResourceUse] = {}
    for file in sorted(logs.rglob("*.tsv")):
        rule = next((name for name in (file.stem, *reversed(file.parts)) if name in stages), None)
        if rule is None:
            continue
        row = rows.setdefault(rule, ResourceUse(stages[rule], rule))
        with file.open(encoding="utf-8", errors="replace", newline="") as lines, contextlib.suppress(csv.Error):
            for measured in csv.DictReader(lines, delimiter="\t"):
                row.jobs += 1
                row.seconds += _number(measured.get("s"))
                row.cpu_seconds += _number(measured.get("cpu_time"))
                row.most_mb = max(row.most_mb, _number(measured.get("max_rss")))
        log = file.with_suffix(".log")
        if log.is_file():
            for count, unit in _DONE.findall(log.read_text(encoding="utf-8", errors="replace")):
                row.items[unit] += int(count)
    if not rows:
        raise InputError("no benchmark files", file=logs, remedy="run the workflow first")
    order = list(stages)
    return sorted(rows.values(), key=lambda row: order.index(row.rule))


def _number(text: str | None) -> float:
    """Snakemake writes a dash or NA for a job too short to measure."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def table(rows: list[ResourceUse]) -> str:
    """The rows as a Markdown table with a line of totals."""
    lines = ["| stage | rule | jobs | wall s | CPU s | most MB | rate |", "|---|---|---:|---:|---:|---:|---|"]
    lines += [
        f"| {row.stage} | {row.rule} | {row.jobs} | {row.seconds:.0f} | {row.cpu_seconds:.0f} | {row.most_mb:.0f} "
        f"| {row.rate} |"
        for row in rows
    ]
    jobs, most = sum(row.jobs for row in rows), max(row.most_mb for row in rows)
    seconds, cpu = sum(row.seconds for row in rows), sum(row.cpu_seconds for row in rows)
    return "\n".join([*lines, f"| all | | {jobs} | {seconds:.0f} | {cpu:.0f} | {most:.0f} | |"])
