"""What jobs ask of a machine, and how the request grows when a job is retried."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from verified.runtime.snakemake_types import Request, Rule

CRITICAL_PATH = 2
"""Priority of the jobs that most others wait for: of all that could start, Snakemake starts these first.

They are on the critical path from the videos through the evaluator's fine-tuning to the retrieval models. One less is
for jobs that join that path later and for long jobs off it; 0, the default, for short ones that only tables and figures
read.
"""


def scale_by_attempt(amount: int) -> Callable[..., int]:
    """A resource function: `amount` at the first attempt, twice that at the second, and so on.

    A job that a scheduler killed for its memory or its time gets more of both; see `retries` in the profiles.
    """

    def asked(wildcards: object, attempt: int) -> int:
        return amount * attempt

    return asked


LONGEST = "longest_minutes"
"""Resource of a profile: the longest time, in minutes, that its cluster gives a job."""


def longest_minutes(workflow: Any) -> int | None:
    """What the profile of Snakemake's `workflow` says is the longest time of a job, in minutes; None if nothing."""
    said = workflow.global_resources.get(LONGEST)
    return said.value if said else None


USUAL_RATE = (100, 1)
"""Jobs and seconds of Snakemake's own `--max-jobs-per-timespan`."""


def start_at_any_rate(workflow: Any) -> None:
    """Have Snakemake's `workflow` start jobs as they come, where the user names no rate; for `onstart`.

    For the rate it has by itself, Snakemake 9 looks at all ready jobs again a second after it looked, and each finished
    job begins another such series: after a hundred jobs it looks a hundred times a second, and takes a core from them.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == USUAL_RATE:
        workflow.scheduler.job_rate_limiter = None


def limit_runtime(rules: Iterable[Rule], longest: int | None) -> list[tuple[Rule, int]]:
    """Have no job of Snakemake's `rules` ask for more than `longest` minutes (None: no limit), however often tried.

    Returns the rules that would take longer at their first attempt, and how many further ones each needs: calls that
    were answered are in the ledger and trainings save their states, so each attempt goes on where the last one was
    stopped.
    """
    further: list[tuple[Rule, int]] = []
    if not longest:
        return further
    for rule in rules:
        if "runtime" not in rule.resources or not rule.resources["runtime"].is_evaluable():
            continue
        asked: Request = rule.resources["runtime"]
        rule.resources["runtime"] = _limit(asked, longest)
        if (needed := math.ceil(asked.evaluate(None, attempt=1).value / longest)) > 1:
            further.append((rule, needed - 1))
    return further


def try_further(retries: int, further: Iterable[tuple[Rule, int]]) -> None:
    """Have jobs of the rules `further` tried so many times more than `retries`, where lost jobs are tried again at all.

    For `onstart`: Snakemake does not know its `--retries` while it reads rules.
    """
    for rule, times in further:
        if retries:
            rule.restart_times = retries + times


def _limit(asked: Request, longest: int) -> Callable[..., int]:
    def limited(wildcards: object, attempt: int) -> int:
        return min(longest, asked.evaluate(wildcards, attempt=attempt).value)

    return limited
