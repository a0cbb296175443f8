"""Protocols for Snakemake's objects, which have no types of their own."""

from collections.abc import Sequence
from typing import Protocol


class Rule(Protocol):
    """A rule of the workflow."""

    name: str
    script: str | None
    output: Sequence[str]


class Script(Protocol):
    """The object `snakemake` of a script; other attributes may be missing if a test or a person calls the script."""

    log: Sequence[str]


class OfDataset(Protocol):
    """The wildcards of a job for one data set."""

    dataset: str
