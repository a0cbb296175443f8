"""Declaration of a stage: its tasks, calls, inputs and checks; quote and check walk over all stages
(`verified.planning.stages`)."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from verified.config.generation import Generation
    from verified.config.model import Config
    from verified.errors import InputError
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task

Level = Literal["ok", "note", "problem"]


class Finding(NamedTuple):
    """ok: the check passed; note: a run works anyway; problem: a run stops. `remedy` is the fix."""

    level: Level
    key: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.level:<8} {self.key}: {self.message}"
        return " ".join((f"{text} ({self.remedy})" if self.remedy else text).split("\n"))


def refused(key: str, error: "InputError", remedy: str = "correct the file") -> Finding:
    """An error as a problem; `remedy` if it names none."""
    return Finding("problem", key, str(error).removesuffix(f" ({error.remedy})"), error.remedy or remedy)


class Supplied(NamedTuple):
    """An input of the user, which no rule makes: the configuration's key, and the path in it."""

    key: str
    path: str
    is_folder: bool = False
    made: str | None = None
    """The first output that a rule makes from it: if that exists, a run continues without the input."""
    remedy: str = "put it there, or name another"

    @property
    def missing(self) -> str | None:
        """The problem if the file is missing."""
        path, kind = Path(self.path), "folder" if self.is_folder else "file"
        return None if (path.is_dir() if self.is_folder else path.is_file()) else f"no {kind} {self.path}"


Shard = tuple[list[dict], dict[str, dict]]
"""Moments of a shard, and its probed videos by id."""
USUAL_SIZE = 1280, 720
"""Assumed width and height, in pixels, of videos that were not probed."""
CAPTION_TOKENS = 24
"""Assumed tokens of a fine caption that does not exist yet."""


def supposed_videos(moments: Iterable[dict]) -> dict[str, dict]:
    """An example of the row of each video of `moments`, in place of unprobed ones."""
    width, height = USUAL_SIZE
    names = {moment["video"] for moment in moments}
    return {name: {"video": name, "sha256": f"unknown: {name}", "width": width, "height": height} for name in names}


class SharedCalls(NamedTuple):
    """Calls of a stage about no data set alone: `walk` asks all of them in a session that counts instead of asking."""

    label: str
    """Label of its rows in a quote."""
    walk: "Callable[[Session], None]"
    generation: "Generation | None" = None
    """Settings that replace the configuration's."""


def _no_items(*_arguments: object) -> Iterator:
    return iter(())


@dataclass(frozen=True)
class Stage:
    """A stage as quote and check use it. It has no effect if a configuration switches it off."""

    name: str
    tasks: "Callable[[Config], Iterable[Task]]" = _no_items
    """Tasks that a run asks: its prompts are read before a run, and their roles are needed."""
    ask_of: "Callable[[str, Config, Sequence[Shard], Session], int | None] | None" = None
    """Make all its calls about the data set of this key, annotated by this run, in a session that counts; returns the
    number of moments whose calls are supposed, as their videos are unprobed.
    """
    asks: "Callable[[Config, Generation], Iterable[SharedCalls]]" = _no_items
    """Its other calls."""
    supplied: "Callable[[Config], Iterable[Supplied]]" = _no_items
    """The user's inputs."""
    makes: "Callable[[Config], Iterable[str]]" = _no_items
    """Inputs of the user that its rules write instead."""
    problems: "Callable[[Config], Iterable[Finding]]" = _no_items
    """Inputs and settings that a run would stop at, beyond missing inputs and models."""
    preflight: "Callable[[Config, Collection[str]], Iterable[Finding]]" = _no_items
    """Findings in the existing inputs; the second argument has keys with a problem."""
    live: "Callable[[Config], Iterable[Finding]]" = _no_items
    """Findings that need calls to endpoints; `verified check --offline` leaves them out."""
    models: "Callable[[Config], Iterable[tuple[str, str, str]]]" = _no_items
    """(model, revision, configuration key) of models that it reads: of the hub, built in, or a folder."""
    gpus: "Callable[[Config], Mapping[str, int]]" = lambda settings: {}
    """Configuration key → GPUs of one of its jobs."""
    before: "Callable[[Config, Iterable[Task]], Iterable[str]]" = _no_items
    """Files that its rules write before a job asks these tasks."""
    selection: "Selection | None" = None
    """Its selection of moments between probe and caption, if it makes one."""
    doubtful: "Callable[[Config, str], Iterable[str]]" = _no_items
    """Files that list doubtful annotations of the data set of this key, which a clean export omits (`export.clean`). A
    row has ``split`` and ``id``."""


@dataclass(frozen=True)
class Selection:
    """Selection of moments before any model call for captions.

    Rules of an extension write moments, videos and probes of the shards of these data sets, from the output of the rule
    find_moments.
    """

    datasets: "Callable[[Config], Collection[str]]"
    """Keys of the data sets."""
    asks: "Callable[[Config, str], bool]"
    """Whether the selection of moments of this data set calls a model."""
    findings: "Callable[[Config, str, list[dict], Sequence[Path]], Generator[Finding, None, list[dict]]]"
    """Of a data set's key, its usable moments and the paths of their videos: yields findings for `verified check`, and
    returns the moments that remain, as far as is known.
    """
