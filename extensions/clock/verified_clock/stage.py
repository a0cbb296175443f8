"""The clock test for `verified quote` and `verified check`, and the file that jobs wait for."""

import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from verified.config import Config
from verified.config.generation import Generation
from verified.errors import InputError
from verified.stage import Finding, SharedCalls, Stage, refused
from verified_clock.config import Clock, is_tested

if TYPE_CHECKING:
    from verified.lmm.session import Session
    from verified.lmm.tasks import Task
    from verified_clock.verdict import Verdict

KEY = "generation.video_lmm"


def result(settings: Config) -> str:
    """The file with the verdicts and answers of a run's model."""
    return f"results/{settings.name}/clock/video_lmm.json"


def before(settings: Config, tasks: "Iterable[Task]") -> list[str]:
    """The file, if one of the tasks needs times."""
    return [result(settings)] if is_tested(settings) and any(task.needs_times for task in tasks) else []


def tasks_that_need_times(settings: Config) -> list[str]:
    """Names of the tasks of a run that need times."""
    from verified.planning.stages import stages

    return sorted({task.name for stage in stages() for task in stage.tasks(settings) if task.needs_times})


def problem(verdicts: "dict[str, Verdict]", form: str, tasks: Collection[str]) -> tuple[str, str] | None:
    """(problem, remedy) if the model does not know the times of clips in this form, in which a run shows them."""
    if verdicts[form].is_right:
        return None
    said = ", ".join(f"as {name} it {verdict}" for name, verdict in verdicts.items())
    message = f"the model does not know the times of frames: {said}"
    if tasks:
        message = f"{message}; {', '.join(tasks)} would go wrong"
    if form != "stills" and verdicts["stills"].is_right:
        return message, f"set {KEY}.video_input to stills"
    return message, "see how the server reads the times of frames, or name another model; clock.refuse: false goes on"


def try_model(generation: Generation, seed: int, tolerance: float) -> dict:
    """Form → verdict and answers. The calls are new ones and not recorded: they are about the server as it is now."""
    from verified.lmm.session import Session
    from verified_clock.tasks import ask, forms

    with tempfile.TemporaryDirectory() as folder:
        alone = generation.model_copy(update={"ledger": str(Path(folder, "ledger"))})
        with Session(alone, seed, dict.fromkeys(forms(generation).values())) as session:
            return ask(session, tolerance)


def _tasks(settings: Config) -> "Iterator[Task]":
    if is_tested(settings):
        from verified_clock.tasks import forms

        yield from forms(settings.generation).values()


def _asks(settings: Config, generation: Generation) -> Iterator[SharedCalls]:
    if is_tested(settings):
        from verified_clock.tasks import ask

        def walk(session: "Session") -> None:
            ask(session, settings.section(Clock).tolerance)

        yield SharedCalls("clock test", walk)


def _live(settings: Config) -> Iterator[Finding]:
    role, section = settings.generation.video_lmm, settings.section(Clock)
    if not is_tested(settings) or not role.kind.asks_endpoint:
        return
    try:
        verdicts = {
            form: verdict for form, (verdict, _) in try_model(settings.generation, 0, section.tolerance).items()
        }
    except InputError as error:
        yield refused("clock", error, f"correct {KEY}")
        return
    calls = 3 * len(verdicts)
    tasks = tasks_that_need_times(settings)
    wrong = problem(verdicts, role.video_input, tasks)
    if wrong is None:
        summary = ", ".join(f"as {form} it {verdict}" for form, verdict in verdicts.items())
        yield Finding("ok", KEY, f"{role.model} in {calls} calls about a rendered clip: {summary}")
    else:
        yield Finding("problem" if tasks and section.refuse else "note", KEY, *wrong)


STAGE = Stage("clock", _tasks, asks=_asks, live=_live, before=before)
