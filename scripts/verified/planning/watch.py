"""How a run stands, from the files that it writes: nothing is asked of it, and none of its locks is touched."""

import contextlib
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from verified.config import Config, read
from verified.config.folders import dataset_folder, shown_datasets
from verified.errors import InputError
from verified.io.characters import plain
from verified.io.jsonl import Row, finite, is_object, read_json
from verified.lmm.ledger import Ledger
from verified.lmm.outcome import STATUSES, is_passing
from verified.planning.benchmarks import resource_use
from verified.planning.plan import stage_of_rule
from verified.planning.run_log import Job, RunLog, newest_log
from verified.runtime.run_lock import JOBS, RUN

QUIET = 60.0
"""Seconds without a line after which a run that holds no lock counts as broken off: before, it may be beginning."""
SHARE_OF_LEDGER = 0.1
"""Share of the time that reading a large ledger may take."""
TAIL = 4096
"""Bytes at the end of a job's log in which its progress, or its error, is looked for."""
STATES = ("complete", "short", "without")
"""Of the captions of a moment, as their jobs count them."""
_ERROR = re.compile(r"^\d\d:\d\d:\d\d error: (.+)$", re.MULTILINE)
_PROGRESS = re.compile(r"^\d\d:\d\d:\d\d (.+: \d+/\d+ \w+.*)$", re.MULTILINE)

Status = Literal["running", "done", "failed", "broken off"]


@dataclass
class Calls:
    """The ledger's calls by how they ended; each counts once, however often it was asked."""

    outcomes: Counter[str] = field(default_factory=Counter)
    """Calls with an answer, or with an error that stays: ok, truncated, invalid, blocked, error."""
    waiting: Counter[str] = field(default_factory=Counter)
    """Calls without an answer for now, by reason."""
    attempts: int = 0
    tokens: int = 0
    money: float = 0.0

    @property
    def answered(self) -> int:
        return self.outcomes.total()


@dataclass
class Standing:
    """Everything a screen shows of a run at one time."""

    name: str
    status: Status
    log: RunLog
    spent: float
    """Seconds since the run began, or that it took."""
    silent: float
    """Seconds since the log's last line."""
    left: float | None
    """Seconds that may be left; None where nothing is known."""
    untimed: list[str]
    """Rules still to run that took no time yet, here or in earlier runs: they are not in `left`."""
    stages: list[tuple[str, int, int, int, int]]
    """Stage, jobs done, planned, at work, failed."""
    work: list[tuple[Job, str]]
    """Jobs at work and the last line of progress in the log of each."""
    moments: list[tuple[str, dict[str, Any]]]
    """Data set and its counts."""
    errors: dict[str, str] = field(default_factory=dict)
    """The last error in the log of each failed job, by its number."""
    calls: Calls | None = None
    calls_here: Calls | None = None
    """Those of this run alone."""
    budget: dict[str, float] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.status != "running"


class Watch:
    """Looks at the run that began last in the working folder.

    `configurations` replace those that its log names. Raises InputError where no run has begun.
    """

    def __init__(self, configurations: Iterable[Path] = ()):
        self.log = RunLog(newest_log(Path()))
        self.log.look()
        self.named = list(map(str, configurations))
        self.settings = read(*self.named) if self.named else None
        self.stages = stage_of_rule()
        self.before = _earlier_seconds()
        self.ledger: tuple[Calls | None, Calls | None] = None, None
        self.ledger_due = 0.0

    def look(self) -> Standing:
        """How the run stands now."""
        self.log.look()
        log, now = self.log, time.time()
        silent = max(0.0, now - log.path.stat().st_mtime)
        status = _status(log, silent)
        left, untimed = _left(log, self.before, now) if status == "running" else (None, [])
        if not self.settings and log.configurations:  # a log that has just begun does not name them yet
            self.settings = _read(log.configurations)
        settings, began = self.settings, log.started or log.path.stat().st_mtime
        standing = Standing(
            settings.name if settings else "run",
            status,
            log,
            max(0.0, (now if status == "running" else log.path.stat().st_mtime) - began),
            silent,
            left,
            untimed,
            _by_stage(log, self.stages),
            [(job, _progress(job)) for job in log.running.values()] if status == "running" else [],
            _moments(settings) if settings else [],
            {number: error for number, job in log.failed.items() if (error := _error(job))},
        )
        if settings:
            standing.calls, standing.calls_here = self._calls(settings)
            limits = settings.generation.budget.model_dump()
            standing.budget = {name: limit for name, limit in limits.items() if limit is not None}
        return standing

    def _calls(self, settings: Config) -> tuple[Calls | None, Calls | None]:
        path, began = Path(settings.generation.ledger), time.monotonic()
        if path.is_file() and began >= self.ledger_due:
            with contextlib.suppress(InputError), Ledger(path, read_only=True) as ledger:
                self.ledger = _sum(ledger.summary()), _sum(ledger.summary(self.log.started))
            self.ledger_due = began + (time.monotonic() - began) / SHARE_OF_LEDGER
        return self.ledger


def _read(configurations: list[str]) -> Config | None:
    """The run's configuration; None where it cannot be read any more."""
    with contextlib.suppress(InputError, OSError):
        return read(*configurations)
    return None


def _status(log: RunLog, silent: float) -> Status:
    if log.ended:
        return "done" if log.ended == "done" else "failed"
    if log.host == platform.node() and silent > QUIET and not _held(RUN) and not _held(JOBS):
        return "broken off"
    return "running"


def _held(name: str) -> bool:
    """Whether the system lists a lock on a file of `.snakemake`; True where that cannot be known."""
    try:
        inode = os.stat(Path(".snakemake", name)).st_ino
        held = {line.split()[-3].rpartition(":")[2] for line in Path("/proc/locks").read_text().splitlines() if line}
    except (OSError, IndexError):
        return not Path("/proc/locks").is_file()
    return str(inode) in held


def _earlier_seconds() -> dict[str, float]:
    """Mean seconds of a job of each rule in the runs so far."""
    with contextlib.suppress(InputError, OSError):
        return {row.rule: row.seconds / row.jobs for row in resource_use(Path("logs")) if row.jobs}
    return {}


def _left(log: RunLog, before: dict[str, float], now: float) -> tuple[float | None, list[str]]:
    """Seconds left, as jobs of the same rules took and as many at once as so far, and rules that this leaves out."""
    waiting, work, untimed = log.planned - log.done, 0.0, []
    longest = 0.0
    for rule, count in waiting.items():
        mean = sum(known) / len(known) if (known := log.seconds.get(rule)) else before.get(rule)
        if mean is None:
            untimed.append(rule)
            continue
        begun = [max(0.0, mean - (now - job.started)) for job in log.running.values() if job.rule == rule]
        work += sum(begun) + mean * max(0, count - len(begun))
        longest = max([longest, *begun])
    wall = max(1.0, now - log.started)
    busy = sum(map(sum, log.seconds.values())) + sum(max(0.0, now - job.started) for job in log.running.values())
    known = bool(waiting) and len(untimed) < len(waiting)
    return (max(longest, work / max(1.0, busy / wall)) if known else None), sorted(untimed)


def _by_stage(log: RunLog, stages: dict[str, str]) -> list[tuple[str, int, int, int, int]]:
    of = {rule: stages.get(rule, "targets") for rule in log.planned | log.done}
    counts = [Counter[str](), Counter[str](), Counter[str](), Counter[str]()]
    for rule, stage in of.items():
        counts[0][stage] += log.done[rule]
        counts[1][stage] += log.planned[rule]
    for where, jobs in ((2, log.running), (3, log.failed)):
        for job in jobs.values():
            counts[where][of.get(job.rule, stages.get(job.rule, "targets"))] += 1
    order = [*dict.fromkeys(stages.values()), "targets"]
    found = sorted(set(of.values()), key=order.index)
    done, planned, running, failed = counts
    return [(stage, done[stage], planned[stage], running[stage], failed[stage]) for stage in found]


def _progress(job: Job) -> str:
    """The last progress that a job's own log shows, if it was written since the job began."""
    lines = _PROGRESS.findall(_end_of_log(job))
    return plain(lines[-1]) if lines else ""


def _error(job: Job) -> str:
    """The last error that a failed job's own log shows; empty where there is none."""
    lines = _ERROR.findall(_end_of_log(job))
    return plain(lines[-1]) if lines else ""


def _end_of_log(job: Job) -> str:
    path = Path(job.log)
    with contextlib.suppress(OSError, ValueError):  # gone meanwhile; a name that no file can have
        if job.log and path.stat().st_mtime >= job.started:
            with path.open("rb") as log:
                log.seek(max(0, path.stat().st_size - TAIL))
                return log.read().decode("utf-8", "replace")
    return ""


def _moments(settings: Config) -> list[tuple[str, dict[str, Any]]]:
    """Of each data set: its moments, those left out by reason, and what the shards say that are finished."""
    found = []
    for name in shown_datasets(settings, "annotated_here"):
        folder = Path(dataset_folder(settings, name))
        counts: dict[str, Any] = {}
        corpus = _read_counts(folder / "corpus" / "counts.json", ("moments", "excluded_rows"))
        excluded = corpus.get("excluded_rows")
        if is_object(excluded) and all(map(finite, (corpus["moments"], *excluded.values()))):
            counts["moments"], counts["excluded"] = corpus["moments"], excluded
        for stage in ("statics", "dynamics"):
            if shards := _shard_counts(folder / "captions" / stage, STATES):
                counts[stage] = {state: sum(one[state] for one in shards) for state in STATES}
        if shards := _shard_counts(folder / "perturbations", ("moments",)):
            counts["perturbations"] = {"moments": sum(one["moments"] for one in shards)}
        found.append((name, counts))
    return found


def _shard_counts(folder: Path, names: Sequence[str]) -> list[Row]:
    shards = (_read_counts(path, names) for path in sorted(folder.glob("shard-*.counts.json")))
    return [one for one in shards if one and all(finite(one[name]) for name in names)]


def _read_counts(path: Path, names: Sequence[str]) -> Row:
    """The object of a file with counts of these names; empty where it holds none, as while its job writes it anew."""
    with contextlib.suppress(InputError, OSError):
        counts = read_json(path)
        if is_object(counts) and set(names) <= counts.keys():
            return counts
    return {}


def _sum(rows: Iterable[dict[str, Any]]) -> Calls:
    calls = Calls()
    for row in rows:
        if is_passing(row["status"], row["reason"]):
            calls.waiting[row["reason"]] += row["calls"]
        elif row["status"] in STATUSES:
            calls.outcomes[row["status"]] += row["calls"]
        calls.attempts += row["attempts"]
        calls.tokens += row["tokens_in"] + row["tokens_out"]
        calls.money += row["cost"]
    return calls
