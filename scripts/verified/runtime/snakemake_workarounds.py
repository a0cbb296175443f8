"""Workarounds for open bugs of Snakemake; only this module uses its private interface."""

import os
from collections.abc import Callable
from typing import Any

from verified.runtime.checksums import BUILT, readings

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


def rerun_incomplete(workflow: Any, folder: str) -> None:
    """Force outputs of failed jobs, and their dependents, to be rebuilt behind any target (Snakemake's issue 1978).

    Snakemake removes the outputs of a failed job. It regards a missing file whose dependents exist as unneeded, so it
    would report nothing to be done, and keep the outdated dependents. Unlike `--forcerun`, this makes no targets of the
    files. `folder`: the folder of the outputs, below results.
    """
    if not workflow.is_main_process:
        return
    build: Callable[[], None] = workflow._build_dag

    def build_with_incomplete() -> None:
        paths = (f"{BUILT}/{place}" for place in readings(folder)[1])
        workflow.dag.forcefiles.update(path for path in paths if not os.path.exists(path))
        build()

    workflow._build_dag = build_with_incomplete
