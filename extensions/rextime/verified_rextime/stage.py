"""The stage for `verified quote` and `verified check`."""

from collections.abc import Collection, Iterator

from verified.config import Config
from verified.config.generation import Generation
from verified.lmm.tasks import Task
from verified.stage import Finding, SharedCalls, Stage, Supplied
from verified_rextime.config import Rextime


def _asks(settings: Config, generation: Generation) -> Iterator[SharedCalls]:
    from verified_rextime.quote import Tested, tests_walk, walk_of, with_adapter

    if not settings.section(Rextime).asks:
        return
    tested: Tested = []
    yield SharedCalls("rextime", walk_of(settings, tested))
    if (tuned := with_adapter(settings, generation)) is not None:
        yield SharedCalls("rextime, fine-tuned", tests_walk(settings, tested), tuned)


def _tasks(settings: Config) -> tuple[Task, ...]:
    from verified_rextime.quote import tasks_of

    section = settings.section(Rextime)
    return tasks_of(section) if section.asks else ()


def _supplied(settings: Config) -> Iterator[Supplied]:
    from verified_rextime.preflight import supplied

    return supplied(settings)


def _problems(settings: Config) -> Iterator[Finding]:
    from verified_rextime.preflight import problems

    return problems(settings)


def _preflight(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    from verified_rextime.preflight import feature_findings, question_findings

    yield from feature_findings(settings)
    yield from question_findings(settings, stuck)


def _models(settings: Config) -> Iterator[tuple[str, str, str]]:
    for model, grounder in settings.section(Rextime).published.items():
        yield grounder.text_encoder, grounder.text_revision, f"rextime.published.{model}.text_encoder"


STAGE = Stage(
    "rextime",
    tasks=_tasks,
    asks=_asks,
    supplied=_supplied,
    problems=_problems,
    preflight=_preflight,
    models=_models,
)
