"""Count the calls that a run would still ask by executing the stages' own code without any model.

Each call is built exactly as the run will build it and looked up in the ledger. An example of typical length replaces
an answer that does not exist yet, so that the calls that depend on it are counted too. Each example names its call, so
different calls have different examples and different dependent calls.

Moments come from the current source. Probed videos and keyframes of earlier runs are used if they still match; every
other moment is assumed to have the configured maximum of keyframes and counted as `unseen`.
"""

import contextlib
import gc
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from verified.captions.dynamics import ask_dynamics
from verified.captions.statics import ask_statics
from verified.config import Config
from verified.config.datasets import DataSet, Keyframes
from verified.config.folders import dataset_folder, shown_datasets
from verified.config.generation import EngineSettings, Generation
from verified.corpus.inventory import SeenShard, seen_shards
from verified.errors import InputError
from verified.extension import stages
from verified.io.video import TOLERANCE
from verified.keyframes.archive import KeyframeTar
from verified.lmm.client import Call, Client
from verified.lmm.engines import make_engine
from verified.lmm.request import Engine, Outcome
from verified.lmm.session import AskedBefore, Session, sound_cost
from verified.lmm.speech import calls_of
from verified.lmm.tasks import Task
from verified.lmm.tasks.embedding import EMBEDDING
from verified.lmm.tasks.paper import PAPER
from verified.lmm.tasks.retrieval import GRADE
from verified.lmm.tasks.transcription import TRANSCRIPTION
from verified.lmm.vision_tokens import frame_tokens
from verified.perturbations.write import ask
from verified.planning.stage import USUAL_SIZE, supposed_videos
from verified.planning.vector_calls import caption_calls, embeds_captions
from verified.quality.transcripts import needs_asking, sounds_of
from verified.runtime.progress import track
from verified.runtime.seals import made_with
from verified.runtime.wildcards import shard_names
from verified.weights.records import pin_models

CHARACTERS_PER_TOKEN = 4.0
"""Characters per token of English prompts, for models never asked before; otherwise the mean of the ledger's calls is
used."""
ENOUGH_CALLS = 20
"""Calls of a task and model in the ledger from which on their means are used."""
ANSWERED = ("ok", "truncated", "invalid", "blocked")
"""Final statuses of calls; their totals, extra attempts included, are the cost of a call."""
MONEY = ("money", "money_single", "money_batch")
COUNTED = ("known", "calls", "images", "frames", "tokens_in", "tokens_out", *MONEY, "pictures_unknown")
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

    def __init__(self, engine: Engine, session: Session, role: EngineSettings, seen: set[int], sizes: Sizes):
        super().__init__(engine, session.ledger, session.settings.attempts, replay=role.kind.replays)
        self.role, self.seen = role, seen
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
        self.sound_cost = partial(sound_cost, role)
        self.missing, self.answered = defaultdict[str, _Tally](_Tally), defaultdict[str, _Tally](_Tally)
        self.found = Counter[str]()

    def look_up(self, task: Task, calls: Iterable[Call]) -> list[Outcome]:
        """The recorded outcome of each call of `task`, or an example."""
        name, model, seen, recorded = task.name, self.engine.model, self.seen, task.name in self.recorded
        self.tasks[name] = task
        missing, outcomes = self.missing[name], []
        for call in calls:  # a million of them for the paper
            outcome = self._recall(self.key(call), call) if recorded else None
            identity = hash((name, model, call.request.prompt, call.media))
            if identity not in seen:
                seen.add(identity)
                if outcome is None:
                    missing.add(call)
                    missing.cost_of_sound += self.sound_cost(call.request)
                else:
                    self._count_known(call, outcome)
            if outcome is None:
                if task.followed:
                    outcome = _example(task, call.count, f"{identity % 2**64:016x}")
                else:
                    outcome = _common_example(task, call.count)
            outcomes.append(outcome)
        return outcomes

    def _count_known(self, call: Call, outcome: Outcome) -> None:
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

        The first choice is the mean of other answered calls of this quote without pictures, whose number is known of
        each call. The second is the mean of the task in the whole ledger. Both need `ENOUGH_CALLS`; otherwise the
        prompts' characters count.
        """
        rows = {}
        for name, task in self.tasks.items():
            missing, answered, mean = self.missing[name], self.answered[name], self.means.get(name)
            calls, pictures = missing.calls, self._picture_tokens(missing)
            if not (calls or self.found[name]):  # another data set has counted them all
                continue
            tokens_in, tokens_out = missing.characters / CHARACTERS_PER_TOKEN + pictures, calls * float(task.tokens_out)
            unknown = (missing.frames if self.of_frame is None else 0) + (
                missing.images if self.of_image is None else 0
            )
            if answered.calls >= ENOUGH_CALLS:
                tokens_in = calls * (answered.tokens_in - self._picture_tokens(answered)) / answered.calls + pictures
                tokens_out, unknown = calls * answered.tokens_out / answered.calls, 0
            elif mean:
                tokens_in, tokens_out, unknown = calls * mean[0], calls * mean[1], 0
            single = (tokens_in * self.role.price_in + tokens_out * self.role.price_out) / 1e6
            batched = single * (self.role.batch_price if self.role.takes_batches else 1.0)
            rows[name] = {
                "task": name,
                "model": self.engine.model,
                "known": self.found[name],
                "calls": calls,
                "images": missing.images,
                "frames": missing.frames,
                "tokens_in": math.ceil(tokens_in),
                "tokens_out": math.ceil(tokens_out),
                "money": (batched if self.role.batch else single) + missing.cost_of_sound,
                "money_single": single + missing.cost_of_sound,
                "money_batch": batched + missing.cost_of_sound,
                "pictures_unknown": unknown,
            }
        return rows


class _Counting(Session):
    """A session that only counts calls, and logs no line per task as no model is asked."""

    planners: dict[str, Planner]

    def ask(self, task: Task, calls: Iterable[Call], total: int) -> list[Outcome]:
        return self.planners[task.role].look_up(task, calls)


def _mean_tokens(role: EngineSettings, sizes: Sizes, side: int) -> float | None:
    """Mean tokens of a picture of these sizes, downscaled to `side` pixels if larger; None: unknown."""
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


def _example(task: Task, count: int, identity: str) -> Outcome:
    """A typical answer in place of a missing one; `identity` makes it unique."""
    return Outcome("", "ok", parsed=task.example(count, identity))


@cache
def _common_example(task: Task, count: int) -> Outcome:
    return _example(task, count, "")


def quote(config: Config) -> list[dict]:
    """One row per data set and task: `known` calls of the ledger, `calls` still to ask, and the cost of these.

    `images` and `frames` are numbers of pictures; `money` is at the configured prices, `money_single` and `money_batch`
    what it would be in single calls and in batches of a provider (`batch: true`); `gpu_hours` at the configured tokens
    per second, None if none is configured. `unseen` is the number of moments whose video was not probed or whose
    keyframes were not cut since they changed. Raises InputError if the moments cannot be read.
    """
    generation = pin_models(config.generation, config.weights.lock)
    rows: list[dict] = []
    seen: set[int] = set()
    with _pause_collector():
        for name, dataset in config.datasets.items():
            if dataset.source.annotated_here:
                rows += _count_dataset(name, dataset, config, generation, seen)
        for asked in (asked for stage in stages() for asked in stage.asks(config, generation)):
            counted = _count_calls(
                asked.label,
                asked.tasks,
                config,
                asked.generation or generation,
                set() if asked.generation else seen,
                asked.walk,
            )
            rows += [{**row, "unseen": 0} for row in counted]
    return rows


def _count_dataset(name: str, dataset: DataSet, config: Config, generation: Generation, seen: set[int]) -> list[dict]:
    folder = dataset_folder(config, name)
    shards = _shards(name, dataset, config)
    keyframes = [_SeenKeyframes(folder, shard, dataset.keyframes) for shard in shard_names(config.shards)]
    speaks = asks_speech(config, name)

    def walk(session: Session) -> None:
        tracked = track(keyframes, f"quote for {name}", config.shards, "shards")
        for cut, (moments, videos) in zip(tracked, shards):
            if name in shown_datasets(config):  # others only train the evaluator
                with cut.of(moments, videos):
                    ask_statics(moments, cut, session)
                ask_dynamics(moments, supposed_videos(moments) | videos, dataset.dynamics.model_dump(), session)
            ask(moments, session)
            if speaks:
                sounds = sounds_of(filter(needs_asking, videos.values()))
                calls = [call for sound in sounds for call in calls_of(sound, session)]
                session.ask(TRANSCRIPTION, calls, len(calls))

        if captioned:
            calls = list(caption_calls(name, config, shards, session))
            session.ask(EMBEDDING, calls, len(calls))
        for task, calls_of_stage in added:
            calls = list(calls_of_stage(shards, session))
            session.ask(task, calls, len(calls))

    added = [asked for stage in stages() for asked in stage.asks_of(name, config)]
    captioned = embeds_captions(config, name)
    tasks = (*([TRANSCRIPTION] if speaks else []), *PAPER, *([EMBEDDING] if captioned else []))
    tasks = tuple(dict.fromkeys([*tasks, *(asked.task for asked in added)]))
    rows = _count_calls(name, tasks, config, generation, seen, walk, _sizes(shards))
    return [{**row, "unseen": sum(cut.unseen for cut in keyframes)} for row in rows]


def asks_speech(config: Config, name: str) -> bool:
    """Whether a run transcribes the videos of a data set by a model."""
    quality = config.datasets[name].quality
    return quality is not None and quality.transcripts == "speech" and config.generation.speech is not None


@contextlib.contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the collector of cycles: a million calls come and go without one, and it would take a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _sizes(shards: list[SeenShard]) -> Sizes:
    """Sizes of the videos of all moments; `USUAL_SIZE` if unknown."""
    sizes: Sizes = Counter()
    for moments, videos in shards:
        for row in moments:
            video = videos.get(row["video"])
            sizes[(video["width"], video["height"]) if video else USUAL_SIZE] += 1
    return sizes or Counter([USUAL_SIZE])


def _count_calls(
    name: str,
    tasks: tuple[Task, ...],
    config: Config,
    generation: Generation,
    seen: set[int],
    walk: Callable[[Session], None],
    sizes: Sizes | None = None,
) -> list[dict]:
    """One row per task of the calls that `walk` would ask in its session."""
    roles = sorted({task.role for task in tasks})
    engines = {role: _engine(getattr(generation, role), generation) for role in roles}
    with _Counting(generation, config.seed, tasks, engines) as session:
        planners = {
            role: Planner(engine, session, getattr(generation, role), seen, sizes or Counter([USUAL_SIZE]))
            for role, engine in engines.items()
        }
        session.planners = planners
        session.askers.update(planners)
        walk(session)
        counted = {task: row for planner in planners.values() for task, row in planner.estimate().items()}
    return [
        {"dataset": name, **_add_price(counted[task.name], getattr(generation, task.role))}
        for task in tasks
        if task.name in counted
    ]


def _engine(role: EngineSettings, generation: Generation) -> Engine:
    """The engine whose model and revision identify calls; a quote needs neither key nor GPU."""
    return make_engine(role, generation) if role.kind.quick_to_make else AskedBefore(role)


def _add_price(row: dict, role: EngineSettings) -> dict:
    """The row with its GPU-hours; money and hours are None if the tokens of its pictures are unknown."""
    if row["pictures_unknown"]:
        unknown = dict.fromkeys(MONEY) if role.price_in else {}
        return {**row, **unknown, "gpu_hours": None}
    return {**row, "gpu_hours": _gpu_hours(row, role)}


def _gpu_hours(row: dict, role: EngineSettings) -> float | None:
    if not role.tokens_per_second:
        return None
    reading = row["tokens_in"] / role.tokens_read_per_second if role.tokens_read_per_second else 0.0
    return (reading + row["tokens_out"] / role.tokens_per_second) / 3600


def _shards(name: str, dataset: DataSet, config: Config) -> list[SeenShard]:
    """The current moments by shard. Raises InputError if no file lists them."""
    source, corpus = dataset.source, f"{dataset_folder(config, name)}/corpus"
    if not source.has_videos:
        raise InputError(f"no moments of {name} are at hand", file=corpus)
    if source.rendered and not Path(moments := source.files(corpus)["moments"]).is_file():
        raise InputError(
            f"the demo corpus of {name} is not rendered yet",
            file=moments,
            remedy=f"run `snakemake --cores 1 {moments} --configfile …` first: it asks no model",
        )
    return seen_shards(source, corpus, config.shards)


class _SeenKeyframes:
    """The existing keyframes of a shard; other moments get the configured maximum.

    `unseen` counts these others. Keyframes belong to a moment if they fill its span, whatever its number was when they
    were cut, and the settings of the job that cut them are the current ones.
    """

    def __init__(self, folder: str, shard: str, settings: Keyframes):
        self.path, self.settings, self.unseen = Path(folder, "keyframes", f"{shard}.tar"), settings, 0
        self.supposed: dict[int, str] = {}
        self.cut_as: dict[int, int] = {}
        self.tar: KeyframeTar | None = None

    @contextlib.contextmanager
    def of(self, moments: list[dict], videos: dict[str, dict]) -> Iterator[None]:
        """Open the archive for these moments; `videos` are the probed ones."""
        with contextlib.ExitStack() as stack:
            if self.path.is_file() and made_with(self.path, self.settings.model_dump(mode="json")):
                self.tar = stack.enter_context(KeyframeTar(self.path))
            cut = self.tar.rows if self.tar else {}
            of_video: dict[str, list[dict]] = defaultdict(list)
            for index_row in cut.values():
                of_video[index_row["video"]].append(index_row)
            for row in moments:
                same = [cut[row["desc_id"]]] if row["desc_id"] in cut else []
                known = [*same, *of_video[row["video"]]] if row["video"] in videos else []
                if (found := next((one for one in known if _cut_from(one, row)), None)) is not None:
                    self.cut_as[row["desc_id"]] = found["desc_id"]
            self.supposed = {
                row["desc_id"]: f"{row['video']} {row['start']!r}-{row['end']!r}"
                for row in moments
                if row["desc_id"] not in self.cut_as
            }
            self.unseen += len(self.supposed)
            yield

    def keyframes(self, desc_id: int) -> list[dict]:
        if desc_id in self.cut_as and self.tar is not None:
            return self.tar.keyframes(self.cut_as[desc_id])
        segments, span = self.settings.segments, self.supposed[desc_id]
        return [{"file": f"{span}/{segment}.jpg", "time": float(segment)} for segment in range(segments)]

    def image(self, name: str) -> bytes:
        return (self.tar.image(name) if self.tar else b"") or f"not cut yet: {name}".encode()


def _cut_from(index_row: dict, moment: dict) -> bool:
    """Whether a row of an archive's index matches the current span of this moment."""
    if index_row["video"] != moment["video"]:
        return False
    segments = [keyframe["segment"] for keyframe in index_row["keyframes"]]
    if not segments:
        return index_row["desc_id"] == moment["desc_id"]
    first, last = min(start for start, _ in segments), max(end for _, end in segments)
    return math.isclose(first, moment["start"], abs_tol=TOLERANCE) and math.isclose(
        last, moment["end"], abs_tol=TOLERANCE
    )


def roles_without_prices(config: Config, rows: list[dict]) -> list[str]:
    """Roles with calls to an endpoint and without prices, in their order."""
    added = (task for stage in stages() for task in stage.prompts(config))
    role_of = {task.name: task.role for task in (TRANSCRIPTION, EMBEDDING, *PAPER, GRADE, *added)}
    asked = dict.fromkeys(role_of[row["task"]] for row in rows if row["calls"])
    roles = {name: getattr(config.generation, name) for name in asked}
    return [name for name, role in roles.items() if role.kind.asks_endpoint and not role.has_prices]


def totals(rows: list[dict]) -> dict:
    """Sums over the rows; GPU-hours only if every row has them; `unseen` once per data set."""
    sums = {name: None if None in (values := [row[name] for row in rows]) else sum(values) for name in COUNTED}
    hours = [row["gpu_hours"] for row in rows]
    unseen = sum({row["dataset"]: row["unseen"] for row in rows}.values())
    return {**sums, "gpu_hours": sum(hours) if hours and None not in hours else None, "unseen": unseen}
