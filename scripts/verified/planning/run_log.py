"""A run as Snakemake's log tells of it: what is planned, at work, finished and failed, and how it ended.

The log is read only, from where the last look ended; a run on a cluster writes the same one.
"""

import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from verified.errors import InputError

LOGS = Path(".snakemake", "log")

_DATE = re.compile(r"^\[(\w{3} \w{3} +\d+ [\d:]{8} \d{4})\]$")
_JOB = re.compile(r"^ *(?:local)?(?:rule|checkpoint) (\w+):$")
_FAILED = re.compile(r"^ *Error in (?:rule|checkpoint) (\w+)[,:]")
_DETAIL = re.compile(r"^ +(jobid|log|wildcards): (.*)$")
_FINISHED = re.compile(r"^ *Finished jobid: (\d+) \(Rule: (\w+)\)$")
_AGAIN = re.compile(r"^Trying to restart job (\d+)\.$")
_STEPS = re.compile(r"^(\d+) of (\d+) steps \(\d+%\) done$")
_PLANNED = re.compile(r"^(\w+) +(\d+)$")
_HEAD = re.compile(r"^  (Date|Host|Config file\(s\)): (.*)$")


@dataclass
class Job:
    """A job that was started. `started` in seconds since the epoch."""

    rule: str
    number: str = ""
    wildcards: str = ""
    log: str = ""
    started: float = 0.0


@dataclass
class RunLog:
    """What a log says so far; `look` reads on."""

    path: Path
    started: float = 0.0
    now: float = 0.0
    """Time of the entry read last."""
    host: str = ""
    configurations: list[str] = field(default_factory=list)
    planned: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    steps: tuple[int, int] = (0, 0)
    running: dict[str, Job] = field(default_factory=dict)
    failed: dict[str, Job] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds that finished jobs of a rule took."""
    ended: str = ""
    """done or failed; empty while the log does not say."""
    _offset: int = 0
    _rest: bytes = b""
    _current: tuple[str, Job] | None = None
    _table: bool = False

    def look(self) -> None:
        """Read what was written since the last look. Raises InputError where the log is gone."""
        try:
            with self.path.open("rb") as log:
                log.seek(self._offset)
                new = log.read()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=self.path) from None
        self._offset += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace").rstrip("\r"))

    def _take(self, line: str) -> None:
        if found := _DATE.match(line):
            self.now = _seconds(found[1], "%a %b %d %H:%M:%S %Y") or self.now
        elif found := _HEAD.match(line):
            self._head(found[1], found[2])
        elif line == "Job stats:":
            self._table = True
            self.planned.clear()
        elif self._table:
            self._plan(line)
        elif found := _JOB.match(line):
            self._begin("job", Job(found[1], started=self.now))
        elif found := _FAILED.match(line):
            self._begin("failure", Job(found[1], started=self.now))
        elif self._current and (found := _DETAIL.match(line)):
            self._detail(found[1], found[2])
        elif found := _FINISHED.match(line):
            self._finish(found[1], found[2])
        elif found := _STEPS.match(line):
            self.steps = int(found[1]), int(found[2])
        elif found := _AGAIN.match(line):
            self.failed.pop(found[1], None)
        elif line.startswith("Nothing to be done"):
            self.ended = "done"
        elif line.startswith(("Exiting because", "WorkflowError", "Terminating processes", "LockException")):
            self.ended = "failed"
        elif line.startswith("Complete log(s):") and not self.ended:
            self.ended = "done" if self.steps[1] and self.steps[0] == self.steps[1] else "failed"

    def _head(self, name: str, value: str) -> None:
        if name == "Date":
            self.started = self.now = _seconds(value, "%Y-%m-%d %H:%M:%S") or 0.0
        elif name == "Host":
            self.host = value
        else:
            self.configurations = re.findall(r"PosixPath\('([^']*)'\)", value)

    def _plan(self, line: str) -> None:
        if (found := _PLANNED.match(line)) and found[1] != "total":
            self.planned[found[1]] = int(found[2])
        elif found:
            self._table, self.steps = False, (self.steps[0], int(found[2]))
        elif not line:
            self._table = False

    def _begin(self, kind: str, job: Job) -> None:
        self._current = kind, job

    def _detail(self, name: str, value: str) -> None:
        assert self._current is not None
        kind, job = self._current
        if name == "jobid":
            job.number = value
            (self.running if kind == "job" else self.failed)[value] = job
            if kind == "failure" and (begun := self.running.pop(value, None)):
                job.wildcards, job.started = begun.wildcards, begun.started
        else:
            setattr(job, name, value.partition(" (check log file(s)")[0])

    def _finish(self, number: str, rule: str) -> None:
        self.done[rule] += 1
        self.failed.pop(number, None)
        if job := self.running.pop(number, None):
            self.seconds[rule].append(max(0.0, self.now - job.started))


def newest_log(folder: Path) -> Path:
    """The log of the run that began last in a folder. Raises InputError where none did."""
    logs = sorted((folder / LOGS).glob("*.snakemake.log"))
    if not logs:
        raise InputError("no run has begun here", file=folder / LOGS, remedy="start one, or name its --directory")
    return logs[-1]


def _seconds(text: str, form: str) -> float | None:
    try:
        return time.mktime(time.strptime(text, form))
    except ValueError:
        return None
