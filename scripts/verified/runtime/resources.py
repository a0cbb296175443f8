"""Resource requests of jobs, their growth with each retry, and inputs whose modification time triggers no job."""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from verified.runtime.wildcards import shard_index

CRITICAL_PATH = 2
"""Priority of the jobs that most others wait for: Snakemake starts these first among the ready ones.

They are on the critical path from the videos through the evaluator's fine-tuning to the retrieval models. Jobs that
join that path later, and long jobs off it, have one less; short jobs for tables and figures alone have 0, the default.
"""


def shard_priority(shards: int, wildcards: Any) -> float:
    """Priority of a job by its wildcard `shard`, above 1 and at most `CRITICAL_PATH`: the first shard comes first.

    A run that is stopped then has all captions of some shards, not one kind of captions of all.
    """
    return CRITICAL_PATH - shard_index(wildcards.shard) / shards


def scale_by_attempt(amount: int, most: int | None = None) -> Callable[..., int]:
    """A resource function: `amount` at the first attempt, twice that at the second, and so on, up to `most` if given.

    A job that a scheduler killed for its memory or its time gets more of both; see `retries` in the profiles.
    """

    def scaled(wildcards: object, attempt: int) -> int:
        return min(most or amount * attempt, amount * attempt)

    return scaled


def job_needs(longest: int | None, mb: int, minutes: int, **others: Any) -> dict[str, Any]:
    """Resources of a job, memory in MB and minutes at its first attempt; each retry of a killed job gets more."""
    return {"mem_mb": scale_by_attempt(mb), "runtime": scale_by_attempt(minutes, longest), **others}


SPARE = 2
"""Retries after failures, as in the profiles."""


def extra_tries(longest: int | None, amount: int) -> int | None:
    """Retries of a resumable job whose first attempt would take `amount` minutes and gets `longest` at most.

    As many as its work needs, plus `SPARE` for failures. None, which means Snakemake's --retries, if one attempt is
    enough.
    """
    needed = math.ceil(amount / longest) if longest else 1
    return needed - 1 + SPARE if needed > 1 else None


def ancient(path: str) -> str:
    """`path` as an input that Snakemake never regards as newer than an output.

    Snakemake is installed where rules are read, but not in every job, so it is imported on demand.
    """
    return import_module("snakemake.io").ancient(path)
