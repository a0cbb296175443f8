"""A plan of a run: stages, jobs and their time limits, those of Snakemake's own dry run."""

import os
import re
import subprocess
import time
from dataclasses import dataclass

from verified.errors import InputError
from verified.extension import extensions
from verified.io.text_tables import align
from verified.planning.running import snakemake_command
from verified.runtime.project import PROJECT

# Snakemake indents the jobs of a group.
_JOB = re.compile(r"^ *(?:local)?(?:rule|checkpoint) (\w+):$", re.MULTILINE)
_RULE = re.compile(r"^ *(?:rule|checkpoint|use rule \w+ as) (\w+)(?: with)?:", re.MULTILINE)
_RESOURCES = re.compile(r"^ +resources: (.*)$", re.MULTILINE)
_THREADS = re.compile(r"^ +threads: (\d+)$", re.MULTILINE)


@dataclass
class Row:
    """Jobs of one rule. `hours` sum the time limits of a first attempt, `gpu_hours` and `core_hours` weigh them."""

    stage: str
    rule: str
    jobs: int = 0
    gpu: int = 0
    threads: int = 1
    mem_mb: int = 0
    hours: float = 0.0
    gpu_hours: float = 0.0
    core_hours: float = 0.0


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
    """The rows as plain text with a line of totals; hours are limits."""
    columns = ("stage", "rule", "jobs", "gpu", "threads", "mem_mb", "hours a job", "GPU-hours", "core-hours")
    lines: list[list[object]] = []
    for row in rows:
        a_job, limits = f"{row.hours / row.jobs:.1f}", (f"{row.gpu_hours:.0f}", f"{row.core_hours:.0f}")
        requested = (row.jobs, row.gpu, row.threads, row.mem_mb)
        lines.append([row.stage, row.rule, *requested, a_job, *limits])
    sums = [f"{sum(row.gpu_hours for row in rows):.0f}", f"{sum(row.core_hours for row in rows):.0f}"]
    lines.append(["all", "", sum(row.jobs for row in rows), "", "", "", "", *sums])
    return align([[str(cell) for cell in line] for line in (columns, *lines)], range(2, len(columns)))
