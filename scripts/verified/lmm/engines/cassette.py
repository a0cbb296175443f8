"""Replay only: answer from an exported ledger or a hand-written file; any other call is a named error."""

import json
from collections.abc import Iterable, Iterator

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.cassette import is_hand_written, models_of, read_answers
from verified.lmm.request import Reply, Request


def make(role: EngineSettings, generation: Generation) -> "Cassette":
    """The engine `cassette` of a role."""
    return Cassette(str(role.cassette), role.model, role.revision)


class Cassette:
    """Engine `cassette`, in place of the recorded model.

    The session loads an exported ledger into the run's, where recorded calls are found before any engine is called; so
    this engine gets only hand-written and unrecorded calls. Raises InputError when the cassette does not have the
    model, or has several revisions of it and the configuration names none.
    """

    name = "cassette"

    def __init__(self, path: str, model: str, revision: str = ""):
        models = models_of(path)
        if model not in models:
            raise InputError(
                f"the cassette holds no answers of the model {model!r}",
                file=path,
                remedy=f"it holds {', '.join(sorted(models)) or 'none'}; set `model` to one of them",
            )
        revisions = models[model]
        if (revision and revision not in revisions) or (not revision and len(revisions) > 1):
            raise InputError(
                f"the cassette holds the revisions {', '.join(sorted(revisions))} of {model}",
                file=path,
                remedy="set `revision` to one of them",
            )
        self.written = read_answers(path) if is_hand_written(path) else {}
        self.path, self.model, self.revision = path, model, revision or next(iter(revisions))

    def answer(self, requests: Iterable[Request]) -> Iterator[Reply]:
        """The hand-written answer about the caption of each request, as JSON; a named error without one."""
        for request in requests:
            written = self.written.get(request.slots.get("caption", ""), {}).get(request.task)
            if written is not None:
                yield Reply(json.dumps(written, ensure_ascii=False))
                continue
            yield Reply("", "error", "not-on-cassette", f"{request.task} was not recorded with these settings")
