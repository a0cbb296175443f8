"""Calls of the judge of captions, for `verified quote`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verified.config import Config
from verified.planning.stage import AskedOfDataset, Shard, Stage, standing
from verified_lab.config import judged_datasets

if TYPE_CHECKING:
    from verified.lmm.client import Call
    from verified.lmm.session import Session


def _asks_of(name: str, settings: Config) -> Iterator[AskedOfDataset]:
    if name not in judged_datasets(settings):
        return
    from verified.lmm.tasks.retrieval import GRADE
    from verified_lab.judge_calls import judge_calls

    def calls(shards: Sequence[Shard], session: "Session") -> "list[Call]":
        return judge_calls(name, settings, standing(shards), session)

    yield AskedOfDataset(GRADE, calls)


STAGE = Stage("meta_evaluation", asks_of=_asks_of)
