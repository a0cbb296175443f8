"""Accuracy against the twin: how often a model prefers the true sentence to one that is false in a detail."""

from verified.extension import Extension
from verified_twins.config import Twins, check


def _tables():
    from verified_twins import table

    return (table,)


def _commands():
    from verified_twins import command

    return (command,)


EXTENSION = Extension(
    name="twins",
    title="prefer the true sentence to its twin",
    sections={"twins": Twins},
    is_on=lambda settings: settings.has(Twins),
    check=check,
    tables=_tables,
    commands=_commands,
)
