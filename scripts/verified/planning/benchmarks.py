"""What a run took: Snakemake's benchmark files and the jobs' own logs by rule, and the longest road through its jobs.

The longest road is the chain of jobs, each of which waited for the one before it, that took longest: no number of cores
makes a run shorter. Which job made whose inputs stands in Snakemake's notes (`runtime.made_with`).
"""

import contextlib
import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from verified.errors import InputError
from verified.planning.plan import stage_of_rule
from verified.runtime.made_with import METADATA, Made, read_notes

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
        for measured in _measured(file):
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


def _measured(file: Path) -> list[dict[str, str]]:
    """The rows of a benchmark file, as far as they can be read; none where it is missing."""
    rows: list[dict[str, str]] = []
    with contextlib.suppress(csv.Error, OSError), file.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows.extend(csv.DictReader(lines, delimiter="\t"))
    return rows


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


@dataclass
class Road:
    """The chain of jobs that took longest, from the first on: each job's log, and its wall seconds."""

    jobs: list[tuple[Path, float]]
    all_seconds: float
    """Wall seconds of all jobs."""

    @property
    def seconds(self) -> float:
        """Wall seconds of the chain."""
        return sum(seconds for _, seconds in self.jobs)

    @property
    def width(self) -> float:
        """How many jobs at a time, on average, would finish all others while the chain runs."""
        return self.all_seconds / self.seconds if self.seconds else 0.0


def longest_road(logs: Path) -> Road:
    """The road through the jobs whose logs are below `logs`, by Snakemake's notes in the folder that holds `logs`.

    A job is what has a log of its own. What no note speaks of, or no benchmark file measured, takes no time.
    """
    folder = logs.parent
    made: dict[str, Made] = read_notes(folder / METADATA)
    inputs: dict[str, set[str]] = {}
    for note in made.values():
        if note.log and logs in (folder / note.log).parents:
            inputs.setdefault(note.log, set()).update(note.inputs)
    seconds = {
        log: sum(_number(row.get("s")) for row in _measured((folder / log).with_suffix(".tsv"))) for log in inputs
    }
    roads: dict[str, list[str]] = {}

    def taken(road: list[str]) -> float:
        return sum(seconds[log] for log in road)

    def road_to(log: str) -> list[str]:
        if log not in roads:
            roads[log] = []  # notes of files that nothing makes any more might lead back here
            makers = {maker.log for path in inputs[log] if (maker := _maker(path, made)) and maker.log in inputs}
            roads[log] = [*max((road_to(maker) for maker in sorted(makers - {log})), key=taken, default=[]), log]
        return roads[log]

    longest = max((road_to(log) for log in sorted(inputs)), key=taken, default=[])
    return Road([(Path(log), seconds[log]) for log in longest], sum(seconds.values()))


def _maker(path: str, made: dict[str, Made]) -> Made | None:
    """The note of a file, or of the folder that holds it."""
    return next((made[place] for place in (path, *map(str, Path(path).parents)) if place in made), None)


def describe(road: Road) -> str:
    """The road as text, a line for each job of at least a second."""
    head = (
        f"longest road: {road.seconds:.0f} s of the {road.all_seconds:.0f} s that all jobs took, one after the other; "
        f"beside it, {road.width:.1f} jobs at a time do all the work"
    )
    return "\n".join(
        [head, *(f"  {seconds:6.0f} s  {log.with_suffix('')}" for log, seconds in road.jobs if seconds >= 1)]
    )
