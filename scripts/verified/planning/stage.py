"""Declaration of a stage: calls that it asks, and checks before a run; `quote` and `check` walk over all of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from verified.config import Config
from verified.config.generation import Generation
from verified.planning.findings import Finding, Problem, Supplied

if TYPE_CHECKING:
    from verified.lmm.client import Call
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task


Shard = tuple[list[dict], dict[str, dict]]
"""Moments of a shard, and its probed videos by id."""
USUAL_SIZE = 1280, 720
"""Assumed width and height, in pixels, of videos that were not probed."""


def supposed_videos(moments: Iterable[dict]) -> dict[str, dict]:
    """An example of the row of each video of `moments`, in place of what was not probed."""
    width, height = USUAL_SIZE
    names = {moment["video"] for moment in moments}
    return {name: {"video": name, "sha256": f"unknown: {name}", "width": width, "height": height} for name in names}


def standing(shards: Iterable[Shard]) -> list[Shard]:
    """The shards with an example for each video that was not probed."""
    return [(moments, supposed_videos(moments) | videos) for moments, videos in shards]


class Asked(NamedTuple):
    """Calls of a stage: `walk` asks all of them in a session that counts instead of asking."""

    label: str
    """Of its rows in a quote."""
    tasks: "tuple[Task, ...]"
    walk: "Callable[[Session], None]"
    generation: Generation | None = None
    """Settings that replace the configuration's."""


class AskedOfDataset(NamedTuple):
    """Calls of one task about one data set: `calls` lists all of them, of its moments and videos by shard."""

    task: "Task"
    calls: "Callable[[Sequence[Shard], Session], Iterable[Call]]"


def _nothing(*arguments: object) -> Iterator:
    return iter(())


@dataclass(frozen=True)
class Stage:
    """What a stage says of itself, once."""

    name: str
    asks: Callable[[Config, Generation], Iterable[Asked]] = _nothing
    """Its model calls."""
    asks_of: Callable[[str, Config], Iterable[AskedOfDataset]] = _nothing
    """Its model calls about the data set of this key that is annotated here, in the order of a run."""
    prompts: "Callable[[Config], Iterable[Task]]" = _nothing
    """Tasks that a run asks, whose prompts it reads."""
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
