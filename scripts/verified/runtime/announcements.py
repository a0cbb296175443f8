"""Environment variables of a run's Snakemake for its jobs."""

import json
import os
import shlex
from collections.abc import Iterable
from typing import Any

PARENT = "VERIFIED_SNAKEMAKE"
"""Environment variable: the process of the run's Snakemake on this machine."""
CONFIGURATIONS = "VERIFIED_CONFIGFILES"
"""Environment variable: the configuration files of the run, for the commands in messages."""
TEMPORARY = "VERIFIED_TEMPORARY"
"""Environment variable: JSON, the positions of temporary outputs by rule."""
LATENCY = "VERIFIED_LATENCY_WAIT"
"""Environment variable: Snakemake's --latency-wait, the seconds within which a written file must become visible."""


def announce(rules: Iterable[Any], configurations: Iterable[str | os.PathLike[str]]) -> None:
    """Tell the jobs of this Snakemake which outputs are temporary, and its configuration files."""
    temporary = {
        rule.name: indices
        for rule in rules
        if (indices := [index for index, path in enumerate(rule.output) if getattr(path, "flags", {}).get("temp")])
    }
    os.environ[TEMPORARY] = json.dumps(temporary)
    here = f"{os.getcwd()}/"  # as users write them
    os.environ[CONFIGURATIONS] = shlex.join(str(path).removeprefix(here) for path in configurations)


def announce_latency(seconds: int) -> None:
    """Tell the jobs of this Snakemake its --latency-wait."""
    os.environ[LATENCY] = str(seconds)


def temporary_outputs(rule: str, outputs: list[str]) -> list[str]:
    """The outputs of a job that the run will remove."""
    return [outputs[index] for index in json.loads(os.environ.get(TEMPORARY, "{}")).get(rule, ())]
