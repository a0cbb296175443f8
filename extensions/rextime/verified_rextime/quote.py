"""Calls that the ReXTime stages would still make: from their code, executed in a session that calls no model.

Filters run as in a real run; a missing answer is assumed to be accepted, so that the quote of later steps is an upper
bound.
"""

from collections.abc import Callable
from pathlib import Path

from verified.config import Config
from verified.config.generation import Generation
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.jsonl import read_jsonl
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.runtime.wildcards import rows_of_shard, shard_names
from verified_rextime import jobs
from verified_rextime.answer import TASKS, take_test
from verified_rextime.config import Rextime
from verified_rextime.generate import write_questions
from verified_rextime.rows import choose, read_questions
from verified_rextime.sources import question_rows, read_sources
from verified_rextime.tasks import GENERATION, LOCATE


def tasks_of(section: Rextime) -> tuple[Task, ...]:
    """Tasks of ReXTime with the configured protocols, each once."""
    answering = answering_tasks(section) if {"video_lmm", "fine_tuned_video_lmm"} & {*section.models} else ()
    return tuple(dict.fromkeys((*(GENERATION if section.sources else ()), *answering)))


Tested = list[tuple[list[dict], dict[str, dict]]]
"""Questions that a video LMM answers, each time with their videos."""


def walk_of(config: Config, tested: Tested) -> Callable[[Session], None]:
    """All calls of ReXTime's stages except those of a fine-tuned model; `tested` gets the questions of the video LMM.

    Raises InputError if a source cannot be read.
    """

    def walk(session: Session) -> None:
        section = config.section(Rextime)
        items = _items(config) if section.sources else []
        for shard in shard_names(config.shards) if items else ():
            shard_items = rows_of_shard(items, shard, config.shards)
            videos = _videos(config, shard, shard_items)
            questions, _, _ = write_questions(shard_items, videos, session, section)
            tested.append((questions, videos))
            for protocol in jobs.protocols(config):
                take_test(questions, videos, protocol, section.frames, session)
        for name in jobs.answered(config):
            given = section.released[name]
            questions = question_rows(choose(read_questions(given.questions, given.scored), given, config.seed))
            videos = _given_videos(config, name, questions)
            tested.append((questions, videos))
            for protocol in jobs.protocols(config):
                take_test(questions, videos, protocol, section.frames, session)

    return walk


def tuned_walk(config: Config, tested: Tested) -> Callable[[Session], None]:
    """Calls of the fine-tuned video LMM, for items that the other walk `tested`."""

    def walk(session: Session) -> None:
        for questions, videos in tested:
            for protocol in jobs.protocols(config):
                take_test(questions, videos, protocol, config.section(Rextime).frames, session)

    return walk


def with_adapter(config: Config, generation: Generation) -> Generation | None:
    """The settings by which the calls of the fine-tuned video LMM are looked up; None if there is none."""
    adapter = jobs.adapter(config)
    if adapter is None:
        return None
    from verified.lmm.engines.transformers import revision_with

    revision = revision_with(generation.video_lmm.revision, adapter)
    return generation.model_copy(update={"video_lmm": generation.video_lmm.model_copy(update={"revision": revision})})


def answering_tasks(section: Rextime) -> tuple[Task, ...]:
    """Tasks of the configured protocols, each once."""
    given = (LOCATE,) if any(one.videos for one in section.released.values()) else ()
    return tuple(dict.fromkeys((*(task for protocol in section.protocols for task in TASKS[protocol]), *given)))


def _given_videos(config: Config, name: str, questions: list[dict]) -> dict[str, dict]:
    """The videos of given questions as they were described, or, before that, one for each that is in the folder."""
    built = [Path(jobs.folder(config), "released", name, "videos", f"{s}.jsonl") for s in shard_names(config.shards)]
    if all(path.is_file() for path in built):
        return {row["video"]: row for path in built for row in read_jsonl(path)}
    there = VideoFolder(str(config.section(Rextime).released[name].videos)).paths
    return {
        row["vid"]: {"video": row["vid"], "duration": row["duration"], "sha256": f"unknown: {row['vid']}"}
        for row in questions
        if row["vid"] in there
    }


def _items(config: Config) -> list[dict]:
    built = Path(jobs.folder(config), "items.jsonl")
    if built.is_file():
        return read_jsonl(built)
    for dataset, folder in jobs.corpora(config).items():
        corpus = Path(folder, "moments.jsonl")
        if not corpus.is_file():
            raise InputError(
                f"the corpus of {dataset}, a source of the questions, is not built yet",
                file=corpus,
                remedy=f"run `snakemake --cores 1 {corpus} --configfile …` first: it asks no model",
            )
    return read_sources(config.section(Rextime), jobs.corpora(config))[0]


def _videos(config: Config, shard: str, items: list[dict]) -> dict[str, dict]:
    """The described videos, or, before that, one for each item whose video is still to be described."""
    built = Path(jobs.folder(config), "videos", f"{shard}.jsonl")
    if built.is_file():
        return {row["video"]: row for row in read_jsonl(built)}
    sources = config.section(Rextime).sources
    return {
        item["video"]: {"video": item["video"], "duration": item["duration"], "sha256": f"unknown: {item['video']}"}
        for item in items
        if sources[item["source"]].dataset or sources[item["source"]].videos
    }
