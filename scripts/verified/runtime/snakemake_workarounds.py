"""Workarounds for open bugs of Snakemake, and the records of its jobs; only this module uses its private interface."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError  # pyright: ignore[reportMissingTypeStubs] (Snakemake has none)

from verified.errors import InputError, disk_problem
from verified.runtime.checksums import Record, digest_of_param, record_of
from verified.runtime.job import ENDS
from verified.runtime.manifest import BUILT, NAME, place_of, write_manifest
from verified.runtime.verify import outdated, sources_of

CAUSES = "most often at a limit of memory (give it more, or lower the batch of its section) or with a full disk"
USUAL_RATE = (100, 1)
"""Jobs and seconds of Snakemake's own `--max-jobs-per-timespan`."""


def disable_rate_limit(workflow: Any) -> None:
    """Remove the limit on job starts if the user sets none; for `onstart` (Snakemake's pull request 3744).

    For its default rate, Snakemake 9 examines all ready jobs again a second later, and each finished job begins another
    such series: after a hundred jobs it does so a hundred times a second, and takes a core from them.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == USUAL_RATE:
        workflow.scheduler.job_rate_limiter = None


def rerun_incomplete(workflow: Any, home: str) -> None:
    """Force outputs of failed jobs, and their dependents, to be rebuilt behind any target (Snakemake's issue 1978).

    Snakemake removes the outputs of a failed job, and people remove files. It regards a missing file whose dependents
    exist as unneeded, so it would report nothing to be done, and keep the outdated dependents. Unlike `--forcerun`,
    this makes no targets of the files. `home`: the folder of the outputs, below results.

    Outputs that are there are forced if their record is not that of the planned job: Snakemake judges them by their
    times and by records of its own, which stay when somebody puts an earlier file back.
    """
    if not workflow.is_main_process:
        return
    build: Callable[[], None] = workflow._build_dag

    def build_with_records() -> None:
        build()
        old = dict(_outdated(workflow.dag))
        for path, problem in old.items():
            print(f"{path} is made again: {problem}", file=sys.stderr)
        if old:
            workflow.dag.forcefiles.update(old)
            workflow.async_run(workflow.dag.update_needrun())
        if workflow.execution_settings and not workflow.dryrun and not workflow.touch:
            update_manifest(workflow, home, ended=not len(workflow.dag))

    workflow._build_dag = build_with_records


def _outdated(dag: Any) -> Iterator[tuple[str, str]]:
    """Outputs that Snakemake would not make, and how they differ from those of the planned jobs."""
    for job in dag.jobs:
        if job.rule.script and not dag.needrun(job):
            params = sorted(map(digest_of_param, job.params))
            for path in map(Path, job.output):
                if written := _recorded(path):
                    for source in sources_of(path, written):
                        if not source.exists():
                            yield os.path.relpath(source), "it is gone, or its job failed"
                    other = "" if written["params"] == params else "its job had other settings, or other code"
                    if problem := other or outdated(path, written):
                        yield str(path), problem


def _recorded(path: str | Path) -> Record | None:
    with contextlib.suppress(InputError):  # a job that reads it refuses it
        return record_of(path)


def killed_jobs(workflow: Any, home: str) -> Iterator[str]:
    """Logs of jobs of this run that ended without a last line, each in a sentence; for `onerror`.

    A job that reaches a limit of its memory is killed, or aborts in a library, and can write nothing itself.
    """
    started = Path(home, NAME).stat().st_mtime if Path(home, NAME).is_file() else 0.0
    for job in workflow.dag.jobs:
        for log in map(Path, () if workflow.dag.finished(job) else job.log):
            with contextlib.suppress(OSError):
                if log.stat().st_mtime >= started and not ENDS.search(
                    log.read_text(encoding="utf-8", errors="replace")
                ):
                    yield f"{log}: the job was killed before it could say why, {CAUSES}"


def update_manifest(workflow: Any, home: str, ended: bool) -> None:
    """Write the outputs of this run into the manifest in `home`, with their digests once it has `ended`.

    Raises WorkflowError, which Snakemake prints without a traceback, if the disk or the manifest cannot be used.
    """
    dag, outputs = workflow.dag, dict[str, str | None]()
    levels = (sorted(level, key=lambda job: list(map(str, job.output))) for level in dag.toposorted())
    for job in (job for level in levels for job in level if job.rule.script):
        for path in job.output:
            place = place_of(path)
            if place and f"{BUILT}/{place}".startswith(f"{home}/") and not getattr(path, "flags", {}).get("temp"):
                written = _recorded(path) if ended else None
                outputs[place] = written["sha256"] if written else "" if ended or dag.needrun(job) else None
    try:
        write_manifest(home, digest_of_param(workflow.config), outputs, ended)
    except (OSError, InputError) as error:
        problem = disk_problem(error) if isinstance(error, OSError) else error
        raise WorkflowError(f"error: {problem or error}") from None
