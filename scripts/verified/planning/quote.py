"""Count the calls that a run would still make by executing the stages' code without any model.

Each call is built exactly as the run will build it and looked up in the ledger. An example of typical length replaces
an answer that does not exist yet, so that the calls that depend on it are counted too. Each example names its call, so
different calls have different examples and different dependent calls.

Moments come from the current source. Probed videos and keyframes of earlier runs are used if they still match; every
other moment is assumed to have the configured maximum of keyframes and counted as `unseen`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from verified.config import Config
from verified.config.folders import dataset_folder
from verified.config.generation import BudgetSettings, EngineSettings, Generation
from verified.corpus.inventory import seen_shards
from verified.errors import InputError
from verified.lmm.client import Call, Client
from verified.lmm.engines import make_engine
from verified.lmm.request import Engine, Outcome
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.lmm.vision_tokens import frame_tokens
from verified.planning.stages import stages
from verified.stage import USUAL_SIZE, Shard, Stage
from verified.weights.records import pin_models

CHARACTERS_PER_TOKEN = 4.0
"""Characters per token of English prompts, for models without recorded calls; otherwise the mean of the ledger's calls
is used.
"""
ENOUGH_CALLS = 20
"""Calls of a task and model in the ledger from which on their means are used."""
ANSWERED = ("ok", "truncated", "invalid", "blocked")
"""Final statuses of calls; their totals, extra attempts included, are the cost of a call."""
COUNTED = ("known", "calls", "images", "frames", "tokens_in", "tokens_out", "money", "pictures_unknown")
Sizes = Counter[tuple[int, int]]
"""Moments by width and height of their video, in pixels."""


class _Tally:
    """The number of calls of one task, and the tokens of those that were answered."""

    def __init__(self) -> None:
        self.calls = self.images = self.frames = self.characters = self.tokens_in = self.tokens_out = 0
        self.cost_of_sound = 0.0

    def add(self, call: Call) -> None:
        """Count one call, with its pictures and the characters of its prompt."""
        self.calls += 1
        self.characters += len(call.request.prompt)
        if call.media and call.task.role == "image_lmm":
            self.images += len(call.media)
        if "frame_number" in call.request.slots:
            self.frames += int(call.request.slots["frame_number"])


class Planner(Client):
    """Looks calls up instead of asking them, and counts them by task: `missing`, `found`, and the `answered` among
    these."""

    def __init__(self, engine: Engine, session: Session, role: EngineSettings, identities: set[int], sizes: Sizes):
        super().__init__(engine, session.ledger, session.settings.attempts, role)
        self.identities = identities
        side = session.settings.frame_side
        self.of_image = _mean_tokens(
            role.model_copy(update={"video_input": "stills"}), sizes, session.settings.picture_side
        )
        self.of_frame = _mean_tokens(role, sizes, side)
        recorded = [row for row in session.ledger.summary() if row["model"] == engine.model]
        self.recorded = {row["task"] for row in recorded}
        self.means: dict[str, tuple[float, float]] = {}
        for task in self.recorded:
            rows = [row for row in recorded if row["task"] == task and row["status"] in ANSWERED]
            if (calls := sum(row["calls"] for row in rows)) >= ENOUGH_CALLS:
                self.means[task] = (
                    sum(row["tokens_in"] for row in rows) / calls,
                    sum(row["tokens_out"] for row in rows) / calls,
                )
        self.tasks: dict[str, Task] = {}
        self.missing, self.answered = defaultdict[str, _Tally](_Tally), defaultdict[str, _Tally](_Tally)
        self.found = Counter[str]()

    def look_up(self, task: Task, calls: Iterable[Call]) -> list[Outcome]:
        """The recorded outcome of each call of `task`, or an example."""
        name, model, identities, recorded = task.name, self.engine.model, self.identities, task.name in self.recorded
        self.tasks[name] = task
        missing, outcomes = self.missing[name], []
        for call in calls:  # a million of them for the paper
            outcome = self._recall(self.key(call), call) if recorded else None
            identity = hash((name, model, call.request.prompt, call.media))
            if identity not in identities:
                identities.add(identity)
                if outcome is None:
                    missing.add(call)
                    missing.cost_of_sound += self._sound_cost(call.request)
                else:
                    self._count_recorded(call, outcome)
            if outcome is None:
                outcome = _example(task, call.count, f"{identity % 2**64:016x}" if task.followed else "")
            outcomes.append(outcome)
        return outcomes

    def _count_recorded(self, call: Call, outcome: Outcome) -> None:
        self.found[call.task.name] += 1
        if outcome.status in ANSWERED:
            answered = self.answered[call.task.name]
            answered.add(call)
            answered.tokens_in += outcome.tokens_in
            answered.tokens_out += outcome.tokens_out

    def _picture_tokens(self, tally: _Tally) -> float:
        return tally.frames * (self.of_frame or 0) + tally.images * (self.of_image or 0)

    def estimate(self) -> dict[str, dict]:
        """By task, the counted calls, with tokens and money of the missing ones, extrapolated from similar calls.

        The first choice is the mean of other answered calls of this quote without pictures, whose number is known for
        each call. The second is the mean of the task in the whole ledger. Both need `ENOUGH_CALLS`; otherwise the
        prompts' characters count. Money and hours are None if the tokens of pictures are unknown.
        """
        rows, role = {}, self.role
        for name, task in self.tasks.items():
            missing, answered, mean = self.missing[name], self.answered[name], self.means.get(name)
            calls, pictures = missing.calls, self._picture_tokens(missing)
            if not (calls or self.found[name]):  # another data set has counted them all
                continue
            tokens_in, tokens_out = missing.characters / CHARACTERS_PER_TOKEN + pictures, calls * float(task.tokens_out)
            unknown = missing.frames * (self.of_frame is None) + missing.images * (self.of_image is None)
            if answered.calls >= ENOUGH_CALLS:
                tokens_in = calls * (answered.tokens_in - self._picture_tokens(answered)) / answered.calls + pictures
                tokens_out, unknown = calls * answered.tokens_out / answered.calls, 0
            elif mean:
                tokens_in, tokens_out, unknown = calls * mean[0], calls * mean[1], 0
            price = self._cost(tokens_in, tokens_out) + missing.cost_of_sound
            money = None if unknown and role.price_in else price
            read, written, hours = math.ceil(tokens_in), math.ceil(tokens_out), None
            if role.tokens_per_second and not unknown:
                reading = read / role.tokens_read_per_second if role.tokens_read_per_second else 0.0
                hours = (reading + written / role.tokens_per_second) / 3600
            rows[name] = {
                "task": name,
                "model": self.engine.model,
                "known": self.found[name],
                "calls": calls,
                "images": missing.images,
                "frames": missing.frames,
                "tokens_in": read,
                "tokens_out": written,
                "money": money,
                "pictures_unknown": unknown,
                "gpu_hours": hours,
            }
        return rows


class _Counting(Session):
    """A session that only counts calls, without the log line per task, as no model is called."""

    askers: dict[str, Planner]

    def ask(self, task: Task, calls: Iterable[Call], total: int) -> list[Outcome]:
        return self.askers[task.role].look_up(task, calls)


def _identity(role: EngineSettings) -> Engine:
    """Engine, model and revision, which identify calls: a quote needs neither key nor GPU."""
    return cast(Engine, SimpleNamespace(name=role.engine, model=role.model, revision=role.revision))


def _mean_tokens(role: EngineSettings, sizes: Sizes, side: int) -> float | None:
    """Mean tokens of a picture of these sizes, downscaled to `side` pixels if larger; None if unknown."""
    if not role.kind.counts_pictures:
        return 0.0
    total = 0.0
    for size, count in sizes.items():
        scale = min(1.0, side / max(size))
        tokens = frame_tokens(role, *(max(1, round(length * scale)) for length in size))
        if tokens is None:
            return None
        total += tokens * count
    return total / sizes.total()


@lru_cache(1000)
def _example(task: Task, count: int, identity: str) -> Outcome:
    """A typical answer in place of a missing one; `identity` makes it unique."""
    return Outcome("", "ok", parsed=task.example(count, identity))


def quote(config: Config) -> list[dict]:
    """One row per data set and task: `known` calls of the ledger, `calls` still to make, and the cost of these.

    `images` and `frames` are numbers of pictures; `money` is at the configured prices, `gpu_hours` at the configured
    tokens per second, None if none is configured. `unseen` is the number of moments whose video was not probed or whose
    keyframes were not cut since they changed. Raises InputError if the moments cannot be read.
    """
    generation = pin_models(config.generation, config.weights.lock)
    rows: list[dict] = []
    identities: set[int] = set()
    for name, dataset in config.datasets.items():
        if dataset.source.annotated_here:
            shards, asking = _shards(name, config), {stage: stage.ask_of for stage in stages() if stage.ask_of}
            calls = [partial(ask_of, name, config, shards) for ask_of in asking.values()]
            rows += _count_calls(name, asking, config, generation, identities, calls, shards)
    for stage in stages():
        for label, walk, replaced in stage.asks(config, generation):
            own = set() if replaced else identities
            rows += _count_calls(label, [stage], config, replaced or generation, own, [walk])
    return rows


def _count_calls(
    name: str,
    asking: Iterable[Stage],
    config: Config,
    generation: Generation,
    identities: set[int],
    walks: Iterable[Callable[[Session], int | None]],
    shards: Iterable[Shard] = (),
) -> list[dict]:
    """One row per task of the calls that `walks` would ask in a session."""
    tasks = tuple(dict.fromkeys(task for stage in asking for task in stage.tasks(config)))
    roles = {name: getattr(generation, name) for name in sorted({task.role for task in tasks})}
    engines = {
        name: make_engine(role, generation) if role.kind.quick_to_make else _identity(role)
        for name, role in roles.items()
    }
    sizes: Sizes = Counter()
    for moments, videos in shards:
        rows = (videos.get(row["video"]) for row in moments)
        sizes.update((video["width"], video["height"]) if video else USUAL_SIZE for video in rows)
    unlimited = generation.model_copy(update={"budget": BudgetSettings()})  # it takes nothing, and so writes nothing
    with _Counting(unlimited, config.seed, tasks, engines) as session:
        session.askers = {
            name: Planner(engines[name], session, role, identities, sizes or Counter([USUAL_SIZE]))
            for name, role in roles.items()
        }
        unseen = sum(walk(session) or 0 for walk in walks)
        counted = {task: row for planner in session.askers.values() for task, row in planner.estimate().items()}
    return [{"dataset": name, **counted[task.name], "unseen": unseen} for task in tasks if task.name in counted]


def _shards(name: str, config: Config) -> list[Shard]:
    """The current moments by shard. Raises InputError if no file lists them yet."""
    source, corpus = config.datasets[name].source, f"{dataset_folder(config, name)}/corpus"
    if source.rendered and not Path(moments := source.files(corpus)["moments"]).is_file():
        raise InputError(
            f"the demo corpus of {name} is not rendered yet",
            file=moments,
            remedy=f"run `snakemake --cores 1 {moments} --configfile …` first: it asks no model",
        )
    return seen_shards(source, corpus, config.shards)


def roles_without_prices(config: Config, rows: list[dict]) -> list[str]:
    """Roles with calls to an endpoint and without prices, in their order."""
    role_of = {task.name: task.role for stage in stages() for task in stage.tasks(config)}
    used = dict.fromkeys(role_of[row["task"]] for row in rows if row["calls"])
    roles = {name: getattr(config.generation, name) for name in used}
    return [name for name, role in roles.items() if role.kind.asks_endpoint and not role.has_prices]


def totals(rows: list[dict]) -> dict:
    """Sums over the rows; GPU-hours only if every row has them; `unseen` once per data set."""
    sums = {name: None if None in (values := [row[name] for row in rows]) else sum(values) for name in COUNTED}
    hours = [row["gpu_hours"] for row in rows]
    unseen = sum({row["dataset"]: row["unseen"] for row in rows}.values())
    return {**sums, "gpu_hours": sum(hours) if hours and None not in hours else None, "unseen": unseen}
