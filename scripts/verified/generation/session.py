"""Everything one job needs to ask: prompts, engines, ledger, budget, and the counts of what came back."""

from collections import Counter
from collections.abc import Callable, Iterable

from verified.common.progress import Progress
from verified.config.generation import Generation
from verified.generation.asking import Asker, Call
from verified.generation.budget import Budget
from verified.generation.cassette import load
from verified.generation.engines import make_engine
from verified.generation.further import FURTHER
from verified.generation.ledger import Ledger
from verified.generation.outcome import STATUSES, Outcome
from verified.generation.prompts import read_prompts
from verified.generation.request import Engine, Request, Sampling
from verified.generation.schemas import answer_schema, structured_ending

ROLE_OF_TASK = {
    "keyframe_description": "image_lmm",
    "statics_candidates": "llm",
    "questions": "llm",
    "answers": "video_lmm",
    "dynamics_candidates": "llm",
    "positives": "llm",
    "static_negatives": "llm",
    "dynamic_negatives": "llm",
}
"""Which model the paper gives each task to (sections 3.1 to 3.3)."""


def role_of(task: str) -> str:
    """The role that answers a task of the paper or of a further stage."""
    return ROLE_OF_TASK[task] if task in ROLE_OF_TASK else FURTHER[task].role


class Session:
    """Prompts of `tasks`, an engine per role they need, and the ledger.

    Raises InputError at once for a prompt file, an engine or a ledger that cannot be used. Roles with equal settings
    share one engine; a model is loaded with its first question. `engines` replaces the configured engine of a role.
    """

    def __init__(
        self, generation: Generation, seed: int, tasks: Iterable[str], engines: dict[str, Engine] | None = None
    ):
        self.settings, self.seed = generation, seed
        self.prompts = read_prompts(generation.prompts, tasks)
        self.ledger = Ledger(generation.ledger)
        budget = Budget(self.ledger, **generation.budget.model_dump())
        self.askers: dict[str, Asker] = {}
        made: dict[str, Engine] = {}
        for role in sorted({role_of(task) for task in self.prompts}):
            settings = getattr(generation, role)
            name = settings.model_dump_json()
            engine = (engines or {}).get(role) or made.get(name) or make_engine(settings, generation)
            made[name] = engine
            prices = settings.price_in, settings.price_out
            final = ("ok",)
            if settings.engine == "cassette":
                load(self.ledger, settings.cassette)
                final = STATUSES
            self.askers[role] = Asker(engine, self.ledger, generation.attempts, prices, budget, final)
        self.counts: dict[str, Counter] = {task: Counter() for task in self.prompts}
        self.reasons: dict[str, Counter] = {task: Counter() for task in self.prompts}

    def call(
        self,
        task: str,
        slots: dict[str, str],
        count: int = 1,
        media: tuple[str, ...] = (),
        load: Callable[[], dict] | None = None,
    ) -> Call:
        """A call of `task`; `media` are the digests of what `load` will fetch."""
        role = getattr(self.settings, role_of(task))
        prompt = self.prompts[task].fill(slots)
        schema = None
        if role.structured:
            schema = answer_schema(task, count)
            prompt = f"{prompt}\n\n{structured_ending(task, count)}"
        request = Request(
            task=task,
            prompt=prompt,
            slots=slots,
            sampling=Sampling(**role.sampling.model_dump()),
            schema=schema,
            seed=self.seed,
        )
        return Call(request, media, count, load)

    def known(self, call: Call) -> bool:
        """Whether the ledger already holds the answer to `call`."""
        return self.askers[role_of(call.request.task)].known(call)

    def ask(self, task: str, calls: Iterable[Call], total: int) -> list[Outcome]:
        """Outcomes of `total` calls of one task, in their order."""
        outcomes: list[Outcome | None] = [None] * total
        asker = self.askers[role_of(task)]
        progress = Progress(task.replace("_", " "), total, "calls")
        for index, outcome in asker.ask(calls):
            outcomes[index] = outcome
            self.counts[task][outcome.status] += 1
            if outcome.reason:
                self.reasons[task][f"{outcome.status}: {outcome.reason}"] += 1
            progress.step(note="" if outcome.status == "ok" else f"{outcome.status}: {outcome.reason}")
        progress.finish(note=f"{asker.asked} asked so far" if asker.asked else "all in the ledger")
        return outcomes

    def outcome_counts(self) -> dict[str, dict]:
        """Per task: calls, how they ended (sums to the calls) and why."""
        return {
            task: {
                "calls": sum(counts.values()),
                "outcomes": {status: counts[status] for status in STATUSES},
                "reasons": dict(sorted(self.reasons[task].items())),
            }
            for task, counts in self.counts.items()
        }

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
