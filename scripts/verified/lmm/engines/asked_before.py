"""Replaces a model whose calls are looked up only: one that the ledger lacks after another job asked it is an error."""

from collections.abc import Iterable, Iterator

from verified.config.generation import EngineSettings
from verified.errors import InputError
from verified.lmm.request import Reply, Request


class AskedBefore:
    """Has the name and revision of the engine of `settings`, so that its calls are found; answers nothing."""

    def __init__(self, settings: EngineSettings):
        self.name, self.model, self.revision = settings.engine, settings.model, settings.revision

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """Raise InputError for the first request."""
        for request in requests:
            raise InputError(
                f"the ledger lacks a call of the task {request.task} that ask_models has made",
                remedy="the ledger was moved or changed since: remove captions/asked in the data set's results, "
                "and run again",
            )
        yield from ()
