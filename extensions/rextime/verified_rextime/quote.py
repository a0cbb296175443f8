"""Calls that the ReXTime stages would still make: from their code, executed in a session that calls no model.

Filters run as in a real run; a missing answer is assumed to be accepted, so that the quote of later steps is an upper
bound.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from verified.config import Config
from verified.config.generation import Generation
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.jsonl import read_jsonl
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.runtime.wildcards import group_by_shard, shard_name, shard_names
from verified_rextime import jobs
from verified_rextime.answer import TASKS, take_test
from verified_rextime.config import Rextime
from verified_rextime.generate import write_questions
from verified_rextime.rows import choose, read_questions
from verified_rextime.sources import question_rows, read_sources
from verified_rextime.tasks import GENERATION, LOCATE


def tasks_of(section: Rextime) -> tuple[Task, ...]:
    """Tasks of ReXTime with the configured protocols, each once."""
    tasks = list(GENERATION if section.sources else ())
    if {"video_lmm", "fine_tuned_video_lmm"} & {*section.models}:
        tasks += [task for protocol in section.protocols for task in TASKS[protocol]]
        tasks += [LOCATE for entry in section.released.values() if entry.videos]
    return tuple(dict.fromkeys(tasks))


Tested = list[tuple[list[dict], dict[str, dict]]]
"""Questions that a video LMM answers, each time with their videos."""


def walk_of(config: Config, tested: Tested) -> Callable[[Session], None]:
    """All calls of ReXTime's stages except those of a fine-tuned model; `tested` gets the questions of the video LMM.

    Raises InputError if a source cannot be read.
    """
    section, described = config.section(Rextime), f"{jobs.folder(config)}/{{}}/{{}}.jsonl"

    def walk(session: Session) -> None:
        items = _items(config) if section.sources else []
        for number, rows in enumerate(group_by_shard(items, config.shards) if items else ()):
            video_rows = (row for row in rows if section.sources[row["source"]].has_videos)
            videos = _videos(
                [described.format("videos", shard_name(number))],
                ((row["video"], row["duration"]) for row in video_rows),
            )
            questions, _, _ = write_questions(rows, videos, session, section)
            tested.append((questions, videos))
        for name in jobs.answered(config):
            entry = section.released[name]
            questions = question_rows(choose(read_questions(entry.questions, entry.scored), entry, config.seed))
            files = [described.format(f"released/{name}/videos", shard) for shard in shard_names(config.shards)]
            there = VideoFolder(str(entry.videos)).paths
            tested.append(
                (questions, _videos(files, ((q["vid"], q["duration"]) for q in questions if q["vid"] in there)))
            )
        tests_walk(config, tested)(session)

    return walk


def tests_walk(config: Config, tested: Tested) -> Callable[[Session], None]:
    """Calls of a video LMM that answers the questions `tested`, by every protocol."""

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


def _videos(files: Sequence[str], expected: Iterable[tuple[str, float]]) -> dict[str, dict]:
    """The videos that `files` describe, or, before that, one for each `expected` id and duration (s)."""
    if all(Path(file).is_file() for file in files):
        return {row["video"]: row for file in files for row in read_jsonl(file)}
    return {video: {"video": video, "duration": seconds, "sha256": f"unknown: {video}"} for video, seconds in expected}
