"""The rows without training for `verified quote` and `verified check`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verified.config import Config
from verified.stage import Shard, Stage
from verified_field.config import Rows

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task


def _tasks(settings: Config) -> "Iterator[Task]":
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified_field.tasks import follow_up_tasks

    section = settings.section(Rows)
    if section.dense:
        yield EMBEDDING
    yield from follow_up_tasks(section)


def _ask_of(name: str, settings: Config, shards: Sequence[Shard], session: "Session") -> None:
    if settings.section(Rows).any:
        from verified_field.calls import ask_of  # it loads torch

        ask_of(name, settings, shards, session)


STAGE = Stage("field", _tasks, _ask_of)
