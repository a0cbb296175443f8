"""Declaration of a stage: calls that it asks, and checks before a run; `quote` and `check` walk over all of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from verified.config import Config
from verified.config.generation import Generation
from verified.planning.findings import Finding, Problem, Supplied

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task


class Asked(NamedTuple):
    """Calls of a stage: `walk` asks all of them in a session that counts instead of asking."""

    label: str
    """Of its rows in a quote."""
    tasks: "tuple[Task, ...]"
    walk: "Callable[[Session], None]"
    generation: Generation | None = None
    """Settings that replace the configuration's."""


def _nothing(*arguments: object) -> Iterator:
    return iter(())


@dataclass(frozen=True)
class Stage:
    """What a stage says of itself, once."""

    name: str
    asks: Callable[[Config, Generation], Iterable[Asked]] = _nothing
    """Its model calls."""
    prompts: "Callable[[Config], Iterable[Task]]" = _nothing
    """Tasks whose prompts a run reads."""
    roles: Callable[[Config], Collection[str]] = lambda settings: ()
    """Roles of `generation` that it may call."""
    supplied: Callable[[Config], Iterable[Supplied]] = _nothing
    """The user's inputs, which no rule makes."""
    problems: Callable[[Config], Iterable[Problem]] = _nothing
    """Missing or unfit inputs."""
    preflight: Callable[[Config, Collection[str]], Iterable[Finding]] = _nothing
    """Findings in the inputs that are there; the second argument holds keys with a problem."""
    models: Callable[[Config], Iterable[tuple[str, str, str]]] = _nothing
    """(model, revision, configuration key) of models that it reads, of the hub or not."""
    gpus: Callable[[Config], Mapping[str, int]] = lambda settings: {}
    """Configuration key → GPUs that its jobs ask for."""
