"""The resources of a job that asks models: prompts, engines, ledger, budget, and the counts of outcomes."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self, cast

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.lmm.budget import Budget
from verified.lmm.cassette import load
from verified.lmm.client import Call, Client
from verified.lmm.engines import make_engine
from verified.lmm.ledger import Ledger
from verified.lmm.prompts import check_structured, read_prompts
from verified.lmm.request import STATUSES, Engine, NotNow, Outcome, Request, Sampling
from verified.lmm.tasks import Task, structured_form
from verified.runtime.progress import Progress

REFUSED = re.compile(r"status-4\d\d")
"""Reason of a call that an endpoint refuses, other than for now."""
REFUSED_AT_ONCE = 8
"""Refused calls after which a job whose endpoint has not answered any is stopped."""


class Session:
    """Prompts of `tasks`, an engine per role they need, and the ledger.

    Raises InputError at once for a prompt file, an engine or a ledger that cannot be used. Roles with equal settings
    share one engine; a model is loaded at its first call. `engines` replaces the configured engine of a role.
    """

    def __init__(
        self,
        generation: Generation,
        seed: int,
        tasks: Iterable[Task],
        engines: dict[str, Engine] | None = None,
    ):
        self.settings, self.seed = generation, seed
        tasks = tuple(tasks)
        self.prompts = read_prompts(generation.prompts, [task for task in tasks if task.prompted])
        for task in tasks:
            if _settings_of(task.role, generation).structured:
                check_structured(self.prompts[task.name], generation.prompts)
        self.ledger = Ledger(generation.ledger)
        self.budget = Budget(self.ledger, **generation.budget.model_dump())
        self.askers: dict[str, Client] = {}
        by_settings: dict[str, Engine] = {}
        for role in sorted({task.role for task in tasks}):
            settings = getattr(generation, role)
            name = settings.model_dump_json()
            engine = (engines or {}).get(role) or by_settings.get(name) or make_engine(settings, generation)
            by_settings[name] = engine
            if settings.cassette:
                load(self.ledger, settings.cassette)
            go_on, make_room = generation.incomplete == "allow", partial(self._make_room, engine)
            self.askers[role] = Client(
                engine, self.ledger, generation.attempts, settings, self.budget, go_on, make_room
            )
        self.filled: dict[str, tuple[dict[str, str], str, str]] = {}
        self.sampling = {role: sampling_of(getattr(generation, role)) for role in self.askers}
        self.unanswered: dict[str, Counter] = {role: Counter() for role in self.askers}
        self.refused, self.answered = Counter[str](), Counter[str]()
        self.last_refused: dict[str, Outcome] = {}
        self.counts: dict[str, Counter] = {task.name: Counter() for task in tasks}
        self.reasons: dict[str, Counter] = {task.name: Counter() for task in tasks}
        self.served: dict[str, Counter] = {task.name: Counter() for task in tasks}

    def _make_room(self, engine: Engine) -> None:
        """Unload models that do not fit into the GPU's memory together with that of `engine`."""
        mine = getattr(engine, "gpu_share", 0.0)
        engines: dict[int, Any] = {id(asker.engine): asker.engine for asker in self.askers.values()}
        for other in engines.values():
            share = getattr(other, "gpu_share", 0.0)
            if other is not engine and share and mine + share > 1:
                other.release()

    def call(
        self,
        task: Task,
        slots: dict[str, str],
        count: int = 1,
        media: tuple[str, ...] = (),
        load: Callable[[], dict] | None = None,
    ) -> Call:
        """A call of `task`; `media` are the digests of the data that `load` fetches."""
        role = getattr(self.settings, task.role)
        schema, ending = structured_form(task, count) if role.structured else (None, "")
        if task.optional:  # a slot that the prompt does not show has no effect, not even on the key of the call
            kinds = self.prompts[task.name].kinds
            slots = {name: value for name, value in slots.items() if name in kinds or name not in task.optional}
        filled = self.filled.get(task.name)  # keyframes of one moment share their prompt
        if filled is None or filled[0] != slots or filled[1] != ending:
            prompt = self.prompts[task.name].fill(slots, role.structured, ending) if task.prompted else ""
            filled = self.filled[task.name] = slots, ending, prompt
        request = Request(
            task=task.name,
            prompt=filled[2],
            slots=slots,
            sampling=self.sampling[task.role],
            schema=schema,
            seed=self.seed,
            demo=task.demo,
        )
        return Call(task, request, media, count, load)

    def has_answer(self, call: Call) -> bool:
        """Whether the ledger already holds the answer to `call`."""
        return self.askers[call.task.role].has_answer(call)

    def ask(self, task: Task, calls: Iterable[Call], total: int) -> list[Outcome]:
        """Outcomes of `total` calls of one task, in their order. Raises InputError when no more answers come."""
        outcomes: list[Outcome | None] = [None] * total
        asker = self.askers[task.role]
        progress = Progress(task.name.replace("_", " "), total, "calls")
        try:
            for index, outcome in asker.ask(calls):
                outcomes[index] = outcome
                self._count(task, outcome, asker.replay)
                if self.refused[task.role] >= REFUSED_AT_ONCE:
                    self._stop_if_refused(task)
                note = "" if outcome.status == "ok" else f"{outcome.status}: {outcome.reason}"
                progress.step(asker.replay or not outcome.passes, note)
        except NotNow as stop:
            answered = sum(outcome is not None and not outcome.passes for outcome in outcomes)
            raise InputError(
                f"{stop.problem}; {answered} of {total} calls of the task {task.name} are answered",
                file=stop.file,
                remedy=stop.remedy,
            ) from None
        self._stop_if_refused(task)
        self._stop_if_empty(task, [outcome for outcome in outcomes if outcome is not None])
        note = f"{asker.calls_made} asked so far" if asker.calls_made else "all in the ledger"
        missing = total - progress.done
        progress.finish(f"{note}, {missing} without an answer for now" if missing else note)
        return cast(list[Outcome], outcomes)  # each call got one

    def _stop_if_refused(self, task: Task) -> None:
        """Raise InputError where the endpoint of a task has refused all calls of this job."""
        count, outcome = self.refused[task.role], self.last_refused.get(task.role)
        if outcome is not None and not self.answered[task.role]:
            raise InputError(
                f"{self._address(task.role)} refuses every call of the task {task.name} ({count} so far), "
                f"{outcome.reason}: {outcome.detail}",
                remedy=f"correct generation.{task.role} (`verified check` asks one question), or the endpoint, and run "
                "again: refused calls are retried",
            )

    def _stop_if_empty(self, task: Task, outcomes: list[Outcome]) -> None:
        """Raise InputError where no answer to a task holds a text."""
        empty = [
            outcome for outcome in outcomes if outcome.status in ("truncated", "invalid") and not outcome.text.strip()
        ]
        if empty and len(empty) == len(outcomes) and not self.askers[task.role].replay:
            reasons = Counter(f"{outcome.status}: {outcome.reason}" for outcome in empty)
            raise InputError(
                f"all {len(empty)} answers of {self._address(task.role)} to the task {task.name} are empty "
                f"({', '.join(f'{count} x {reason}' for reason, count in reasons.most_common())}); {empty[-1].detail}",
                remedy=f"correct generation.{task.role} (`verified check` asks one question), or the endpoint, and run "
                "again: empty answers are retried",
            )

    def _count(self, task: Task, outcome: Outcome, replay: bool) -> None:
        self.counts[task.name][outcome.status] += 1
        if served := outcome.notes.get("served_model"):
            self.served[task.name][f"{served} for {self.askers[task.role].engine.model}"] += 1
        if outcome.reason:
            self.reasons[task.name][f"{outcome.status}: {outcome.reason}"] += 1
        if outcome.status == "error" and REFUSED.fullmatch(outcome.reason) and not outcome.passes and not replay:
            self.refused[task.role] += 1
            self.last_refused[task.role] = outcome
        elif outcome.status != "error":
            self.answered[task.role] += 1
        if outcome.passes and not replay:
            self.unanswered[task.role][outcome.reason] += 1

    def fails_for(self, task: Task, outcome: Outcome) -> bool:
        """Whether this job will fail because a call has no answer yet, so that calls that depend on it can wait."""
        return outcome.passes and not self.askers[task.role].replay and self.settings.incomplete == "fail"

    def settle(self) -> dict[str, int]:
        """Numbers of calls without an answer for the time being, by reason, for the shard's counts.

        Raises InputError when there are any and the configuration does not allow it, or when there are no other calls.
        """
        unanswered = sum(self.unanswered.values(), Counter())
        missing, calls = unanswered.total(), sum(counts.total() for counts in self.counts.values())
        if missing and (self.settings.incomplete == "fail" or missing == calls):
            reasons = ", ".join(f"{count} x {reason}" for reason, count in unanswered.most_common())
            addresses = " and ".join(dict.fromkeys(self._address(role) for role, few in self.unanswered.items() if few))
            raise InputError(
                f"{missing} of {calls} calls have no answer yet ({reasons}; asked was {addresses})",
                remedy="all answers so far are kept; run again, which asks these calls only, or set "
                "generation.incomplete to allow: the job then continues without them",
            )
        return dict(sorted(unanswered.items()))

    def _address(self, role: str) -> str:
        engine = self.askers[role].engine
        return getattr(engine, "address", None) or f"{engine.model} ({engine.name})"

    def outcome_counts(self) -> dict[str, dict]:
        """Per task: calls, how they ended (sums to the calls), why, and answers of another model than the one asked."""
        return {
            task: {
                "calls": sum(counts.values()),
                "outcomes": {status: counts[status] for status in STATUSES},
                "reasons": dict(sorted(self.reasons[task].items())),
                "served": dict(sorted(self.served[task].items())),
            }
            for task, counts in self.counts.items()
        }

    def close(self) -> None:
        """Stop running calls, and close the ledger."""
        try:
            self.budget.close()
        finally:
            self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        """Close; runs the checks of `settle` for a job that did not."""
        try:
            if kind is None:
                self.settle()
        finally:
            self.close()


def sampling_of(role: EngineSettings) -> Sampling:
    """Sampling of a role's answers."""
    extra = json.dumps(role.chat_template_kwargs, sort_keys=True) if role.chat_template_kwargs else ""
    return Sampling(**role.sampling.model_dump(), chat_template_kwargs=extra)


def _settings_of(role: str, generation: Generation) -> EngineSettings:
    """The settings of a role. Raises InputError if no model has it."""
    settings = getattr(generation, role)
    if settings is None:
        raise InputError(
            f"nobody is configured for the role {role}", remedy=f"set generation.{role}: engine, model and base_url"
        )
    return settings
