"""What the suite would still ask: its own code, executed in a session that asks no model.

Filters run as in a real run; an answer that does not exist yet is assumed to be kept, so that the quote of later steps
is an upper bound.
"""

from collections.abc import Callable
from pathlib import Path

from verified.benchmark.rextime import paths
from verified.benchmark.rextime.answer import TASKS, take_test
from verified.benchmark.rextime.generate import write_questions
from verified.benchmark.rextime.prepare import read_sources
from verified.config import Config
from verified.config.rextime import Rextime
from verified.errors import InputError
from verified.io.jsonl import read_jsonl
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.lmm.tasks.rextime import GENERATION
from verified.runtime.shards import rows_of_shard, shard_names


def tasks_of(suite: Rextime) -> tuple[Task, ...]:
    """Tasks of the suite with the configured protocols, each once."""
    protocols = suite.protocols if "video_lmm" in suite.models else ()
    return tuple(dict.fromkeys((*GENERATION, *(task for protocol in protocols for task in TASKS[protocol]))))


def walk_of(config: Config) -> Callable[[Session], None]:
    """Everything that the suite would ask. Raises InputError where a source cannot be read."""

    def walk(session: Session) -> None:
        suite = config.rextime
        items = _items(config)
        for shard in shard_names(config.shards):
            shard_items = rows_of_shard(items, shard, config.shards)
            videos = _videos(config, shard, shard_items)
            questions, _ = write_questions(shard_items, videos, session, suite)
            for protocol in paths.protocols(config):
                take_test(questions, videos, protocol, suite.frames, session)

    return walk


def _items(config: Config) -> list[dict]:
    built = Path(paths.folder(config), "items.jsonl")
    if built.is_file():
        return read_jsonl(built)
    for dataset, folder in paths.corpora(config).items():
        corpus = Path(folder, "moments.jsonl")
        if not corpus.is_file():
            raise InputError(
                f"the corpus of {dataset}, a source of the questions, is not built yet",
                file=corpus,
                remedy=f"run `snakemake --cores 1 {corpus} --configfile …` first: it asks no model",
            )
    return read_sources(config.rextime, paths.corpora(config))[0]


def _videos(config: Config, shard: str, items: list[dict]) -> dict[str, dict]:
    """The videos as they were described, or, before that, one for each item that will have to be looked at."""
    built = Path(paths.folder(config), "videos", f"{shard}.jsonl")
    if built.is_file():
        return {row["video"]: row for row in read_jsonl(built)}
    sources = config.rextime.sources
    return {
        item["video"]: {"video": item["video"], "duration": item["duration"], "sha256": f"unknown: {item['video']}"}
        for item in items
        if sources[item["source"]].dataset or sources[item["source"]].videos
    }
