"""The list of mutations, what each becomes in a model, and which check of the conformance kit finds it out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verified.benchmark.vcmr.conformance import failures
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class

ONE_STAGE = ("xml", "reloclnet", "hero")
TWO_STAGE = ("conquer", "squidnet")
ALL = ONE_STAGE + TWO_STAGE

Model = type[RetrievalModel]
Mutation = Callable[[Model], dict]
"""From a model to the attributes of its broken subclass."""


@dataclass
class Entry:
    """One mutation: what is broken, in which models, how, and whether it takes a training to see it."""

    what: str
    models: tuple[str, ...]
    function: Mutation
    trained: bool


MUTATIONS: list[Entry] = []


@dataclass
class Mutant:
    """One mutation in one model."""

    model: str
    what: str
    cls: Model


def mutation(what: str, models: tuple[str, ...] = ALL, trained: bool = False) -> Callable[[Mutation], Mutation]:
    def add(function: Mutation) -> Mutation:
        MUTATIONS.append(Entry(what, models, function, trained))
        return function

    return add


def mutants() -> Iterator[Mutant]:
    """Every mutation in one model, the models by turns; those that only a training shows, in the quickest one."""
    for turn, entry in enumerate(MUTATIONS):
        yield mutant(entry, entry.models[0 if entry.trained else turn % len(entry.models)])


def mutant(entry: Entry, model: str) -> Mutant:
    base = model_class(model)
    return Mutant(model, entry.what, type(f"Mutant{base.__name__}", (base,), entry.function(base)))


def killed_by(mutant: Mutant) -> tuple[str, str] | None:
    """The first check that fails and its reason; None for a survivor."""
    return next(((check, reason) for check, reason in failures(mutant.cls) if reason), None)
