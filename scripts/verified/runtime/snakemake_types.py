"""What this package asks of Snakemake's objects, which have no types of their own."""

from collections.abc import MutableMapping, Sequence
from typing import Any, Protocol


class Request(Protocol):
    """A resource that a rule asks for: a number, or a function of the job's wildcards and its attempt."""

    value: Any

    def is_evaluable(self) -> bool: ...

    def evaluate(self, wildcards: object, *, attempt: int) -> "Request": ...


class Rule(Protocol):
    """A rule of the workflow."""

    name: str
    script: str | None
    output: Sequence[str]
    resources: MutableMapping[str, Any]
    """`Request` by name; a function in its place becomes one."""
    restart_times: int

    def set_params(self, **params: object) -> None: ...


class Script(Protocol):
    """The object `snakemake` of a script; what else it has may be missing where a test or a person calls the script."""

    log: Sequence[str]


class OfDataset(Protocol):
    """The wildcards of a job for one data set."""

    dataset: str
