"""The stage for `verified quote` and `verified check`."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from verified.config import Config
from verified.config.generation import Generation
from verified.stage import Finding, SharedCalls, Stage, Supplied
from verified_longform.config import Longform, has_computed_features

if TYPE_CHECKING:
    from verified.lmm.tasks import Task


def _tasks(settings: Config) -> "Iterator[Task]":
    from verified.lmm.tasks.transcription import TRANSCRIPTION

    if settings.generation.speech and settings.section(Longform).datasets:
        yield TRANSCRIPTION


def _asks(settings: Config, generation: Generation) -> Iterator[SharedCalls]:
    from verified_longform.listening import walk_of

    if generation.speech and settings.section(Longform).datasets:
        yield SharedCalls("longform", walk_of(settings))


def _supplied(settings: Config) -> Iterator[Supplied]:
    from verified_longform.preflight import supplied

    return supplied(settings)


def _problems(settings: Config) -> Iterator[Finding]:
    from verified_longform.preflight import problems

    return problems(settings)


def _preflight(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    from verified_longform.preflight import encoder_findings, feature_findings, movie_findings

    yield from feature_findings(settings)
    yield from movie_findings(settings, stuck)
    yield from encoder_findings(settings)


def _models(settings: Config) -> Iterator[tuple[str, str, str]]:
    if has_computed_features(settings):
        section = settings.section(Longform)
        yield section.encoder, section.encoder_revision, "longform.encoder"


def _gpus(settings: Config) -> dict[str, int]:
    section = settings.section(Longform)
    if not section.datasets:
        return {}
    return {"longform.vlg_net.gpu": section.vlg_net.gpu, "longform.encoder_gpu": section.encoder_gpu}


STAGE = Stage(
    "longform",
    tasks=_tasks,
    asks=_asks,
    supplied=_supplied,
    problems=_problems,
    preflight=_preflight,
    models=_models,
    gpus=_gpus,
)
