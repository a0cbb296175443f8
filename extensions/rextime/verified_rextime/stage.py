"""What the stage says of itself, for `verified quote` and `verified check`."""

from collections.abc import Collection, Iterator

from verified.config import Config
from verified.config.generation import Generation
from verified.lmm.tasks import Task
from verified.planning.findings import Finding, Problem, Supplied
from verified.planning.stage import Asked, Stage
from verified_rextime.config import FREE, Rextime


def _asks(settings: Config, generation: Generation) -> Iterator[Asked]:
    from verified.lmm.tasks.embedding import EMBEDDING
    from verified_rextime.jobs import vector_files
    from verified_rextime.quote import Tested, answering_tasks, tasks_of, tuned_walk, walk_of, with_adapter

    section = settings.section(Rextime)
    if not section.asks:
        return
    tested: Tested = []
    tasks = (*tasks_of(section), *([EMBEDDING] if vector_files(settings) else []))
    yield Asked("rextime", tasks, walk_of(settings, tested))
    if (tuned := with_adapter(settings, generation)) is not None:
        yield Asked("rextime, fine-tuned", answering_tasks(section), tuned_walk(settings, tested), tuned)


def _prompts(settings: Config) -> tuple[Task, ...]:
    from verified_rextime.quote import tasks_of

    section = settings.section(Rextime)
    return tasks_of(section) if section.asks else ()


def _roles(settings: Config) -> set[str]:
    section = settings.section(Rextime)
    writes = {"llm", "video_lmm"} if section.sources else set()
    if not {"video_lmm", "fine_tuned_video_lmm"} & {*section.models}:
        return writes
    return writes | {"video_lmm"} | ({"llm"} if {*FREE} & {*section.protocols} else set())


def _supplied(settings: Config) -> Iterator[Supplied]:
    from verified_rextime.preflight import supplied

    return supplied(settings)


def _problems(settings: Config) -> Iterator[Problem]:
    from verified_rextime.preflight import problems

    return problems(settings)


def _preflight(settings: Config, stuck: Collection[str]) -> Iterator[Finding]:
    from verified_rextime.preflight import feature_findings, question_findings

    yield from feature_findings(settings)
    yield from question_findings(settings, stuck)


def _models(settings: Config) -> Iterator[tuple[str, str, str]]:
    for model, given in settings.section(Rextime).published.items():
        yield given.text_encoder, given.text_revision, f"rextime.published.{model}.text_encoder"


STAGE = Stage(
    "rextime",
    asks=_asks,
    prompts=_prompts,
    roles=_roles,
    supplied=_supplied,
    problems=_problems,
    preflight=_preflight,
    models=_models,
)
