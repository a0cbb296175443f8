"""Calls of the judge of captions, for `verified quote`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verified.config import Config
from verified.stage import Shard, Stage, fill_examples
from verified_lab.config import judged_datasets

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task


def _tasks(settings: Config) -> "tuple[Task, ...]":
    from verified.lmm.tasks.retrieval import GRADE

    return (GRADE,) if judged_datasets(settings) else ()


def _ask_of(name: str, settings: Config, shards: Sequence[Shard], session: "Session") -> None:
    if name in judged_datasets(settings):
        from verified.lmm.tasks.retrieval import GRADE
        from verified_lab.judge_calls import judge_calls

        calls = judge_calls(name, settings, fill_examples(shards), session)
        session.ask(GRADE, calls, len(calls))


STAGE = Stage("meta_evaluation", _tasks, _ask_of)
