"""What open bugs of Snakemake force: reaching behind its public interface, here and nowhere else."""

from typing import Any

USUAL_RATE = (100, 1)
"""Jobs and seconds of Snakemake's own `--max-jobs-per-timespan`."""


def disable_rate_limit(workflow: Any) -> None:
    """Start jobs as they come, where the user names no rate; for `onstart` (Snakemake's pull request 3744).

    For its default rate, Snakemake 9 examines all ready jobs again a second later, and each finished job begins another
    such series: after a hundred jobs it does so a hundred times a second, and takes a core from them.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == USUAL_RATE:
        workflow.scheduler.job_rate_limiter = None
