"""A plan of a run: stages, jobs, their time limits and an estimate of their time.

Jobs and limits are those of Snakemake's own dry run. The estimate of a rule is the mean of its finished jobs in the
folder of the run, or else, for the paper's evaluator, a measurement on a GPU.
"""

import os
import re
import subprocess
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from verified.config.evaluator import Evaluator
from verified.errors import InputError
from verified.extension import extensions
from verified.io.text_tables import align
from verified.planning.running import snakemake_command
from verified.runtime.job import TOOK
from verified.runtime.project import PROJECT

# Snakemake indents the jobs of a group.
_JOB = re.compile(r"^ *(?:local)?(?:rule|checkpoint) (\w+):$", re.MULTILINE)
_RULE = re.compile(r"^ *(?:rule|checkpoint|use rule \w+ as) (\w+)(?: with)?:", re.MULTILINE)
_RESOURCES = re.compile(r"^ +resources: (.*)$", re.MULTILINE)
_TOOK = re.compile(rf"{TOOK} ([\d.]+) s\n\Z")
_THREADS = re.compile(r"^ +threads: (\d+)$", re.MULTILINE)


@dataclass
class Row:
    """Jobs of one rule. `hours` sum the time limits of a first attempt, `gpu_hours` and `core_hours` weigh them.

    `estimated_hours` sum the expected times of the jobs; None if unknown.
    """

    stage: str
    rule: str
    jobs: int = 0
    gpu: int = 0
    threads: int = 1
    mem_mb: int = 0
    hours: float = 0.0
    gpu_hours: float = 0.0
    core_hours: float = 0.0
    estimated_hours: float | None = None


TRAINING_SECONDS, SCORING_SECONDS = 0.93 / 16, 0.114
"""Seconds of an H100 for a clip of a training step, and for the scores of a moment, at L/16 (docs/measurements.md)."""


def finished_seconds(logs: Path, rules: Collection[str]) -> dict[str, float]:
    """Mean seconds of the finished jobs of each of `rules` that have their logs below `logs`."""
    jobs: dict[str, list[float]] = {}
    for file in sorted(logs.rglob("*.log")):
        took = _TOOK.search(file.read_text(encoding="utf-8", errors="replace"))
        rule = next((name for name in (*file.parent.parts[::-1], file.stem) if name in rules), None)
        if took and rule:
            jobs.setdefault(rule, []).append(float(took[1]))
    return {rule: fmean(times) for rule, times in jobs.items()}


def estimate(rows: list[Row], finished: Mapping[str, float], evaluator: Evaluator, moments: int) -> None:
    """Set the estimates of `rows` from the mean seconds of `finished` jobs, else from measurements on a GPU."""
    measured = {
        "finetune_evaluator": moments * evaluator.epochs * TRAINING_SECONDS,
        "score_captions": moments * SCORING_SECONDS,
    }
    for row in rows:
        if row.rule in finished:
            row.estimated_hours = row.jobs * finished[row.rule] / 3600
        elif row.rule in measured and evaluator.size == "L/16":
            row.estimated_hours = measured[row.rule] / max(1, row.gpu) / 3600


def plan(arguments: list[str]) -> tuple[list[Row], float]:
    """Rows in the order of the stages, and the seconds that Snakemake took to plan; `arguments` go to Snakemake.

    Raises InputError with Snakemake's own message if planning fails.
    """
    started = time.monotonic()
    run = subprocess.run(
        # Enough cores that every rule gets the threads it asks for.
        snakemake_command("--dry-run", "--nocolor", "--cores", "1024", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "VERIFIED_LOG": "snakemake"},
    )
    seconds = time.monotonic() - started
    if run.returncode:
        raise InputError(f"Snakemake cannot plan this run:\n{run.stdout[-2000:].strip()}")
    return rows_of(run.stdout), seconds


def rows_of(dry_run: str) -> list[Row]:
    """Sum the jobs that a dry run prints."""
    stages = stage_of_rule()
    rows: dict[str, Row] = {}
    starts = [*_JOB.finditer(dry_run)]
    for start, stop in zip(starts, [*[match.start() for match in starts[1:]], len(dry_run)]):
        rule, text = start[1], dry_run[start.end() : stop]
        if rule not in stages:
            continue
        row = rows.setdefault(rule, Row(stages[rule], rule))
        resources = _RESOURCES.search(text)
        requested = dict(pair.split("=", 1) for pair in resources[1].split(", ") if "=" in pair) if resources else {}
        threads = _THREADS.search(text)
        row.jobs += 1
        row.gpu = max(row.gpu, int(requested.get("gpu", 0)))
        row.threads = max(row.threads, int(threads[1]) if threads else 1)
        row.mem_mb = max(row.mem_mb, int(requested.get("mem_mb", 0)))
        hours = int(requested.get("runtime", 0)) / 60
        row.hours += hours
        row.gpu_hours += hours * int(requested.get("gpu", 0))
        row.core_hours += hours * (int(threads[1]) if threads else 1)
    order = list(stages)
    return sorted(rows.values(), key=lambda row: order.index(row.rule))


def stage_of_rule() -> dict[str, str]:
    """{rule: stage} in the order of the Snakefile's includes; a stage is a file of rules/, or an extension."""
    included = re.findall(r'^ *include: "rules/(\w+)\.smk"', (PROJECT / "Snakefile").read_text("utf-8"), re.MULTILINE)
    files = {stage: PROJECT / "rules" / f"{stage}.smk" for stage in included}
    files |= {each.name: PROJECT / "extensions" / each.name / "rules.smk" for each in extensions()}
    return {
        rule: stage
        for stage, file in files.items()
        if file.is_file()
        for rule in _RULE.findall(file.read_text("utf-8"))
    }


def table(rows: list[Row]) -> str:
    """The rows as plain text with a line of totals; hours are limits and, if known, estimates."""
    columns = (
        "stage",
        "rule",
        "jobs",
        "gpu",
        "threads",
        "mem_mb",
        "hours a job",
        "GPU-hours",
        "core-hours",
        "estimated",
    )
    lines: list[list[object]] = []
    for row in rows:
        a_job, limits = f"{row.hours / row.jobs:.1f}", (f"{row.gpu_hours:.0f}", f"{row.core_hours:.0f}")
        requested = (row.jobs, row.gpu, row.threads, row.mem_mb)
        lines.append([row.stage, row.rule, *requested, a_job, *limits, _hours(row.estimated_hours)])
    known = [row for row in rows if row.estimated_hours is not None]
    total = _hours(sum(row.estimated_hours or 0 for row in known) if len(known) == len(rows) else None)
    sums = [f"{sum(row.gpu_hours for row in rows):.0f}", f"{sum(row.core_hours for row in rows):.0f}", total]
    lines.append(["all", "", sum(row.jobs for row in rows), "", "", "", "", *sums])
    return align([[str(cell) for cell in line] for line in (columns, *lines)], range(2, len(columns)))


def _hours(hours: float | None) -> str:
    return "–" if hours is None else f"{hours:.3g}"


def remark(rows: list[Row]) -> str:
    """Meaning of the hours of a table, and how to get the estimates that it lacks."""
    limits = "Hours a job, GPU-hours and core-hours are time limits of first attempts: what may be taken at most."
    gpu = sum((row.estimated_hours or 0) * row.gpu for row in rows)
    about = (
        f"Estimated are hours of all jobs of a rule, by its finished jobs here or a measurement: {gpu:.3g} GPU-hours"
    )
    if unknown := [row.rule for row in rows if row.estimated_hours is None and row.gpu]:
        about += f" without {', '.join(unknown)} (let one job of each finish, and plan again)"
    return f"{limits}\n{about}."
