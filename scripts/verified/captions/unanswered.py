"""Shards that were finished without some of their answers are retried by the next run.

Snakemake runs a job again when one of its params differs from the value with which its outputs were made. For a shard
whose counts report unanswered calls, the param `asked_in` names the current run and so is new in each run. For any
other shard it is the value that the job had when it asked, which its counts keep.
"""

import json
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

THIS_RUN = f"run {os.getpid()} of {time.time():.0f}"


@cache
def asked_in(counts: str) -> str:
    """The run that has to ask for the shard with this SHARD.counts.json; "" where it was all done at once.

    Remembered, because Snakemake asks twice and removes the job's old outputs in between.
    """
    try:
        stated = json.loads(Path(counts).read_text(encoding="utf-8"))
        return THIS_RUN if stated["unanswered"] else str(stated["asked_in"])
    except (OSError, ValueError, KeyError, TypeError):  # not there, or damaged: it will be asked anyway
        return ""


def asked_in_of(pattern: str) -> Callable[[object], str]:
    """A params function: `asked_in` of the counts at `pattern`, with the job's wildcards filled in."""

    def of_job(wildcards) -> str:
        return asked_in(pattern.format(**dict(wildcards.items())))

    return of_job
