"""Accuracy against the twin: how often a model prefers the true sentence to one that is false in a detail."""

from verified.config import Config
from verified.extension import Extension
from verified_twins.config import Twins, check


def _is_on(settings: Config) -> bool:
    return settings.has(Twins)


EXTENSION = Extension(
    name="twins",
    title="prefer the true sentence to its twin",
    sections={"twins": Twins},
    is_on=_is_on,
    check=check,
    tables=("verified_twins.table",),
    commands=("verified_twins.command",),
)
