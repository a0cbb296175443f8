"""The section `sentinels`, and the files of its jobs."""

from typing import Any

from pydantic import Field

from verified.config import Config
from verified.config.base import Section
from verified.config.folders import dataset_wildcard, datasets_with, shown_datasets
from verified.layout import Layout
from verified.lmm.tasks import Task
from verified.lmm.tasks.paper import TASKS_OF_STAGE
from verified.runtime.wildcards import shard_names

FOLDER = "results/{dataset}/sentinels"
TASKS: tuple[Task, ...] = tuple(task for stage in ("statics", "dynamics") for task in TASKS_OF_STAGE[stage])
ROLES = ("image_lmm", "video_lmm", "llm")


class Sentinels(Section):
    """Rendered moments of known truth, captioned in parts during a run, for no output of the corpus."""

    number: int = Field(default=24, ge=8)
    """Moments for each data set."""
    parts: int = Field(default=4, ge=1)
    """Jobs that caption them: the first before the captions of the data set, the last after those of its last shard."""
    limit: float | None = Field(default=None, gt=0, lt=1)
    """A run stops once the share of false statements is above this: its whole 95 % interval; null: never."""
    size: int = Field(default=448, ge=32, multiple_of=2)
    """Width and height of the videos, in pixels."""


def is_asked(settings: Config) -> bool:
    """Whether a run asks about them; recorded answers are replayed without."""
    replayed = any(getattr(settings.generation, role).kind.replays for role in ROLES)
    return settings.has(Sentinels) and not replayed


def check(settings: Config) -> None:
    """Raise ValueError if no data set is captioned."""
    if settings.has(Sentinels) and not captioned(settings):
        raise ValueError("sentinels: no data set is annotated here, so no captions are written")


def captioned(settings: Config) -> list[str]:
    """Keys of the data sets whose moments get captions."""
    datasets = shown_datasets(settings)
    return [name for name in datasets_with(settings, "annotated_here") if name in datasets]


def folder(settings: Config, name: str) -> str:
    """Folder of the files about the data set of this key."""
    return FOLDER.replace("{dataset}", dataset_wildcard(settings, name))


def parts(settings: Config) -> list[str]:
    """Names of the parts, in the order in which they are asked: before all shards, then after a shard each."""
    return [f"part-{number:02d}" for number in range(min(settings.section(Sentinels).parts, settings.shards + 1))]


def parts_before(settings: Config, wildcards: Any) -> list[str]:
    """Captions of the parts that are asked before ``wildcards.part``."""
    earlier = parts(settings)[: int(wildcards.part.removeprefix("part-"))]
    return [f"results/{wildcards.dataset}/sentinels/captions/{part}.jsonl" for part in earlier]


def captions_before(settings: Config, wildcards: Any) -> list[str]:
    """Captions of the shards that ``wildcards.part`` is asked after."""
    layout = Layout(settings)
    return [
        layout.path(template, wildcards.dataset, shard=shard)
        for shard in shards_before(settings, wildcards.part)
        for template in (layout.statics, layout.dynamics)
    ]


def shards_before(settings: Config, part: str) -> list[str]:
    """The shards after whose captions a part is asked: none for the first part, all for the last of several."""
    last = len(parts(settings)) - 1
    number = int(part.removeprefix("part-"))
    return shard_names(settings.shards)[: round(number * settings.shards / last) if last else 0]
