"""What the rows without training say of themselves, for `verified quote` and `verified check`."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from verified.config import Config
from verified.planning.stage import AskedOfDataset, Stage
from verified_field.config import Rows

if TYPE_CHECKING:
    from verified.lmm.tasks import Task


def _asks_of(name: str, settings: Config) -> Iterator[AskedOfDataset]:
    if settings.section(Rows).any:
        from verified_field.calls import asked_of  # it loads torch

        yield from asked_of(name, settings)


def _prompts(settings: Config) -> "Iterator[Task]":
    from verified_field.tasks import follow_up_tasks

    yield from follow_up_tasks(settings.section(Rows))


def _roles(settings: Config) -> Collection[str]:
    section = settings.section(Rows)
    graded = section.reranker.first_stages and section.reranker.by != "relevance"
    return {"video_lmm"} if section.grounder.first_stages or graded else ()


STAGE = Stage("field", asks_of=_asks_of, prompts=_prompts, roles=_roles)
