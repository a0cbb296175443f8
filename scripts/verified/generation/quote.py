"""What a run would still ask: the stages' own code, executed without asking any model.

Each call is built exactly as the run will build it and looked up in the ledger. Where a call depends on an answer that
does not exist yet, a stand-in of typical length takes its place, so that the calls that follow are counted too. Each
stand-in says which call it answers: calls that differ have stand-ins that differ, and so have the calls that follow.
"""

import contextlib
import dataclasses
import gc
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from verified.captions.dynamics import TASKS as DYNAMICS_TASKS
from verified.captions.dynamics import caption_dynamics
from verified.captions.statics import TASKS as STATICS_TASKS
from verified.captions.statics import caption_statics
from verified.captions.tar import KeyframeTar
from verified.common.errors import InputError
from verified.common.jsonl import read_jsonl
from verified.common.progress import track
from verified.common.shards import by_shard, shard_names
from verified.config import Config
from verified.config.datasets import DataSet
from verified.config.folders import dataset_folder, shown_datasets
from verified.config.generation import EngineSettings, Generation
from verified.config.sources import FolderSource, PublishedSource
from verified.corpus.unprobed import unprobed_moments
from verified.generation.asking import Asker, Call
from verified.generation.engines import make_engine
from verified.generation.further import FURTHER
from verified.generation.outcome import Outcome, Parsed
from verified.generation.request import Engine
from verified.generation.session import Session, role_of
from verified.generation.vision_tokens import frame_tokens
from verified.perturbations.write import TASK_OF_KIND
from verified.weights.records import locked

CHARACTERS_PER_TOKEN = 4.0
"""Of English prompts, for models never asked before; where the ledger holds calls, their mean is used."""
ENOUGH_CALLS = 20
"""Calls of a task and model in the ledger from which its means are trusted."""
TYPICAL_TOKENS_OUT = {
    "keyframe_description": 140,
    "statics_candidates": 160,
    "questions": 90,
    "answers": 240,
    "dynamics_candidates": 80,
    "positives": 50,
    "static_negatives": 50,
    "dynamic_negatives": 50,
}
"""Lengths of ordinary answers, estimated from the examples of supplement listings 2 to 9 and the released captions."""


def typical_tokens_out(task: str) -> int:
    """Tokens of an ordinary answer to a task."""
    return TYPICAL_TOKENS_OUT[task] if task in TYPICAL_TOKENS_OUT else FURTHER[task].tokens_out


COUNTED = ("known", "calls", "images", "frames", "tokens_in", "tokens_out", "money", "pictures_unknown")
USUAL_SIZE = 1280, 720
"""Width and height, in pixels, of videos that were not looked into yet."""


@dataclasses.dataclass
class _Unasked:
    """Name and model of an engine that is never asked: a quote needs neither key nor GPU."""

    name: str
    model: str
    revision: str

    def answer(self, requests: Iterable) -> Iterator:
        raise RuntimeError("a quote asks nobody")


class Planner(Asker):
    """Looks calls up instead of asking them; `rows` adds up what is missing, by task."""

    def __init__(self, engine: Engine, session: Session, role: EngineSettings, seen: set[int], size: tuple[int, int]):
        super().__init__(engine, session.ledger, session.settings.attempts, replay=role.engine == "cassette")
        self.role, self.seen = role, seen
        sees = role.engine != "scene-reader"
        scale = min(1.0, session.settings.frame_side / max(size))
        self.of_image = frame_tokens(role.model_copy(update={"video_input": "stills"}), *size) if sees else 0.0
        self.of_frame = frame_tokens(role, *(max(1, round(side * scale)) for side in size)) if sees else 0.0
        recorded = [row for row in session.ledger.summary() if row["model"] == engine.model]
        self.recorded = {row["task"] for row in recorded}
        self.means = {
            row["task"]: (row["tokens_in"] / row["attempts"], row["tokens_out"] / row["attempts"])
            for row in recorded
            if row["status"] == "ok" and row["calls"] >= ENOUGH_CALLS
        }
        self.rows: dict[str, dict] = {}

    def ask(self, calls: Iterable[Call]) -> Iterator[tuple[int, Outcome]]:
        """Yield the recorded outcome of each call, or a stand-in."""
        for index, call in enumerate(calls):
            task = call.request.task
            outcome = self._recall(self.key(call), call) if task in self.recorded else None
            identity = hash((task, self.engine.model, call.request.prompt, call.media))
            if identity not in self.seen:
                self.seen.add(identity)
                self._count(call, known=outcome is not None)
            if outcome is None:
                outcome = Outcome("", "ok", parsed=_stand_in(task, call.count, f"{identity % 2**64:016x}"))
            yield index, outcome

    def _count(self, call: Call, known: bool) -> None:
        task = call.request.task
        row = self.rows.get(task)
        if row is None:
            row = self.rows[task] = {"task": task, "model": self.engine.model, **dict.fromkeys(COUNTED, 0)}
        if known:
            row["known"] += 1
            return
        frames = int(call.request.slots.get("frame_number", 0))
        images = len(call.media) if task == "keyframe_description" else 0
        words = len(call.request.prompt) / CHARACTERS_PER_TOKEN
        supposed = words + frames * (self.of_frame or 0) + images * (self.of_image or 0)
        mean = self.means.get(task)
        tokens_in, tokens_out = mean or (supposed, typical_tokens_out(task))
        if mean is None:
            row["pictures_unknown"] += (frames if self.of_frame is None else 0) + (
                images if self.of_image is None else 0
            )
        row["calls"] += 1
        row["images"] += images
        row["frames"] += frames
        row["tokens_in"] += math.ceil(tokens_in)
        row["tokens_out"] += math.ceil(tokens_out)
        row["money"] += (tokens_in * self.role.price_in + tokens_out * self.role.price_out) / 1e6


class _Counting(Session):
    """A session whose calls are counted only: no line about each task, as no model is asked."""

    def ask(self, task: str, calls: Iterable[Call], total: int) -> list[Outcome]:
        outcomes = dict(self.askers[role_of(task)].ask(calls))
        return [outcomes[number] for number in range(total)]


def _stand_in(task: str, count: int, identity: str) -> Parsed:
    """Parts of an ordinary length in the place of an answer that is not there; `identity` tells it from all others."""
    if task in FURTHER:
        return FURTHER[task].stand_in
    words = TYPICAL_TOKENS_OUT[task] // (3 if task == "keyframe_description" else count + 1)
    text = "word_" * (words - len(identity) // 5) + identity
    sections = {"background": text, "foreground": text, "description": text}
    return Parsed((text,) * count, sections, tuple(range(count)))


def quote(config: Config) -> list[dict]:
    """One row per data set and task: `known` calls of the ledger, `calls` still to ask, and what these take.

    `images` and `frames` are numbers of pictures; `money` is at the configured prices; `gpu_hours` at the configured
    tokens per second, None where there are none. Raises InputError where the moments cannot be read.
    """
    generation = locked(config.generation, config.weights.lock)
    rows: list[dict] = []
    seen: set[int] = set()
    with tempfile.TemporaryDirectory() as folder:
        if not Path(generation.ledger).is_file():
            generation = generation.model_copy(update={"ledger": str(Path(folder, "empty.sqlite"))})
        for name, dataset in config.datasets.items():
            if dataset.source.annotated_here:
                rows += _of_dataset(name, dataset, config, generation, seen)
        if config.rextime.sources:
            from verified.rextime.quote import tasks_of, walk_of

            rows += _counted("rextime", tasks_of(config.rextime), config, generation, seen, walk_of(config))
    return rows


def _of_dataset(name: str, dataset: DataSet, config: Config, generation: Generation, seen: set[int]) -> list[dict]:
    tasks = (*STATICS_TASKS, *DYNAMICS_TASKS, *TASK_OF_KIND.values())

    def walk(session: Session) -> None:
        folder = dataset_folder(config, name)
        moments = by_shard(_moments(name, dataset, config), config.shards)
        videos = _videos(folder)
        for shard, shard_moments in zip(
            track(shard_names(config.shards), f"quote for {name}", config.shards, "shards"), moments
        ):
            if name in shown_datasets(config):  # the others only teach the evaluator
                keyframes = _keyframes(folder, shard, shard_moments, dataset.keyframes.segments)
                caption_statics(shard_moments, keyframes, session)
                sampling = dataset.dynamics.model_dump()
                caption_dynamics(shard_moments, videos or _supposed_videos(shard_moments), sampling, session)
            for task in TASK_OF_KIND.values():
                count = generation.perturbations
                slots = ({"caption": moment["caption"], "count": str(count)} for moment in shard_moments)
                session.ask(task, (session.call(task, filled, count) for filled in slots), len(shard_moments))

    with _without_collector():
        return _counted(name, tasks, config, generation, seen, walk, _size(dataset_folder(config, name)))


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """A million calls are made and dropped, none in a cycle: the collector of cycles would take a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _size(folder: str) -> tuple[int, int]:
    """Width and height of the largest video, as soon as they are known."""
    built = Path(folder, "corpus", "videos.jsonl")
    sizes = [(row["width"], row["height"]) for row in read_jsonl(built)] if built.is_file() else []
    return max(sizes, key=lambda size: size[0] * size[1], default=USUAL_SIZE)


def _counted(
    name: str,
    tasks: tuple[str, ...],
    config: Config,
    generation: Generation,
    seen: set[int],
    walk: Callable[[Session], None],
    size: tuple[int, int] = USUAL_SIZE,
) -> list[dict]:
    """One row per task of the calls that `walk` would ask in its session."""
    roles = sorted({role_of(task) for task in tasks})
    engines = {role: _engine(getattr(generation, role), generation) for role in roles}
    with _Counting(generation, config.seed, tasks, engines) as session:
        planners = {
            role: Planner(engine, session, getattr(generation, role), seen, size) for role, engine in engines.items()
        }
        session.askers = {**planners}
        walk(session)
        counted = {task: row for planner in planners.values() for task, row in planner.rows.items()}
    return [
        {"dataset": name, **_priced(counted[task], getattr(generation, role_of(task)))}
        for task in tasks
        if task in counted
    ]


def _engine(role: EngineSettings, generation: Generation) -> Engine:
    if role.engine in ("scene-reader", "cassette"):
        return make_engine(role, generation)
    return _Unasked(role.engine, role.model, role.revision)


def _priced(row: dict, role: EngineSettings) -> dict:
    """The row with its GPU-hours; money and hours are None where the tokens of its pictures are unknown."""
    if row["pictures_unknown"]:
        return {**row, "money": None if role.price_in else row["money"], "gpu_hours": None}
    return {**row, "gpu_hours": _gpu_hours(row, role)}


def _gpu_hours(row: dict, role: EngineSettings) -> float | None:
    if not role.tokens_per_second:
        return None
    reading = row["tokens_in"] / role.tokens_read_per_second if role.tokens_read_per_second else 0.0
    return (reading + row["tokens_out"] / role.tokens_per_second) / 3600


def _moments(name: str, dataset: DataSet, config: Config) -> list[dict]:
    """The corpus if it is built, else what its source says."""
    built = Path(dataset_folder(config, name), "corpus", "moments.jsonl")
    if built.is_file():
        return read_jsonl(built)
    if dataset.source.rendered:
        raise InputError(
            f"the demo corpus of {name} is not rendered yet",
            file=built,
            remedy=f"run `snakemake --cores 1 {built} --configfile …` first: it asks no model",
        )
    if not isinstance(dataset.source, FolderSource | PublishedSource):
        raise InputError(f"no moments of {name} are at hand", file=built)
    return unprobed_moments(dataset.source, str(built.parent))


class _SupposedKeyframes:
    """As many keyframes per moment as the configuration allows, none of them cut yet."""

    def __init__(self, moments: list[dict], segments: int):
        self.segments = segments
        self.spans = {row["desc_id"]: f"{row['video']} {row['start']!r}-{row['end']!r}" for row in moments}

    def keyframes(self, desc_id: int) -> list[dict]:
        span = self.spans[desc_id]
        return [{"file": f"{span}/{segment}.jpg", "time": float(segment)} for segment in range(self.segments)]

    def image(self, name: str) -> bytes:
        return f"not cut yet: {name}".encode()


def _keyframes(folder: str, shard: str, moments: list[dict], segments: int) -> KeyframeTar | _SupposedKeyframes:
    built = Path(folder, "keyframes", f"{shard}.tar")
    return KeyframeTar(built) if built.is_file() else _SupposedKeyframes(moments, segments)


def _videos(folder: str) -> dict[str, dict]:
    """Videos by id where they were probed; none before that."""
    built = Path(folder, "corpus", "videos.jsonl")
    return {row["video"]: row for row in read_jsonl(built)} if built.is_file() else {}


def _supposed_videos(moments: list[dict]) -> dict[str, dict]:
    size = dict(zip(("width", "height"), USUAL_SIZE))
    names = {moment["video"] for moment in moments}
    return {name: {"video": name, "sha256": f"unknown: {name}", **size} for name in names}


def totals(rows: list[dict]) -> dict:
    """Sums over the rows; GPU-hours only where every row has them."""
    sums = {name: None if None in (values := [row[name] for row in rows]) else sum(values) for name in COUNTED}
    hours = [row["gpu_hours"] for row in rows]
    return {**sums, "gpu_hours": sum(hours) if hours and None not in hours else None}
