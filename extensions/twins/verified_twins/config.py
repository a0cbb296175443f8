"""The section `twins`."""

from pydantic import Field

from verified.config import Config
from verified.config.base import Section

KINDS = ("statics", "dynamics", "negated", "reversed")
"""Statics and dynamics: the perturbed caption of Equation 8; the others are made by rule."""


class Twins(Section):
    """Every model trained on fine captions is also tested on the twins of its test queries."""

    kinds: tuple[str, ...] = Field(default=KINDS, min_length=1)
    """Kinds of twins: statics and dynamics (perturbations of section 3.3), negated, reversed in time or direction."""


def check(settings: Config) -> None:
    """Raise ValueError for unknown kinds, or if no data set has twins."""
    if not settings.has(Twins):
        return
    if unknown := sorted(set(settings.section(Twins).kinds) - set(KINDS)):
        raise ValueError(f"twins.kinds: no kind {unknown[0]!r}: give some of {', '.join(KINDS)}")
    if not annotated(settings):
        raise ValueError("twins: no data set is annotated here, and only those have perturbed captions")


def annotated(settings: Config) -> list[str]:
    """Keys of the data sets whose queries have twins."""
    return [name for name, dataset in settings.datasets.items() if dataset.source.annotated_here]
