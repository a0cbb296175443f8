"""Calls of the grounder and the re-ranker that a run would make, for a quote."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from verified.benchmark.first_stages import GROUNDED
from verified.benchmark.vcmr.data import Moments, read_moments
from verified.benchmark.vcmr.grounding import (
    NO,
    YES,
    Pair,
    pair_calls,
    pairs_to_grade,
    pairs_to_ground,
    read_first_stage,
)
from verified.benchmark.vcmr.paths import follow_ups
from verified.config import Config, outputs
from verified.config.folders import dataset_folder, shown_datasets
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks import Task, words
from verified.lmm.tasks.retrieval import GROUND, YES_OR_NO, tasks_of
from verified.planning.vector_calls import CAPTION_TOKENS, tested_moments

USUAL_SECONDS = 10.0
"""Assumed length of a moment that no first stage has found yet, in seconds."""


def follow_up_tasks(config: Config, name: str) -> tuple[Task, ...]:
    """The tasks that a run asks after the first stages of a data set."""
    retrieval = config.retrieval
    if name not in shown_datasets(config, "has_videos"):
        return ()
    return (
        *((GROUND,) if retrieval.grounder.first_stages else ()),
        *(tasks_of(retrieval.reranker.by) if retrieval.reranker.first_stages else ()),
    )


def follow_up_calls(
    name: str, config: Config, shards: Sequence[tuple[list[dict], dict[str, dict]]], session: Session
) -> Iterator[tuple[Task, list[Call]]]:
    """(task, calls) of each first stage and training; exact once the first stage has been tested.

    Otherwise the configuration's maximum per query: K videos and the query's own, N moments of all videos and N of its
    own. Trainings share pairs, so a run asks fewer.
    """
    folder, spans, retrieval = dataset_folder(config, name), config.datasets[name].spans, config.retrieval
    test = Path(folder, "annotations", "fig", f"{spans.test_split}.jsonl")
    videos = {video: row for _, found in shards for video, row in found.items()}
    queries = [row["desc_id"] for moments, _ in tested_moments(name, config, shards) for row in moments]
    for model, trained_on, seeds in follow_ups(config):
        first, _, step = model.rpartition("-")
        grounds = step == GROUNDED
        frames = retrieval.grounder.frames if grounds else retrieval.reranker.frames
        (task,) = (GROUND,) if grounds else tasks_of(retrieval.reranker.by)
        said = (YES, NO) if task is YES_OR_NO else ("",)
        for seed in seeds:
            submission = Path(outputs.training(folder, first, trained_on, seed), "fig", "submission.json.gz")
            moments = read_moments(test, "fig") if test.is_file() and submission.is_file() else None
            for word in said:
                if moments is not None and all(video in videos for video in moments.videos):
                    pairs = _pairs(config, grounds, str(submission), moments, videos)
                    yield task, pair_calls(task, pairs, moments, videos, frames, session, word)
                else:
                    count = retrieval.grounder.videos + 1 if grounds else 2 * retrieval.reranker.moments
                    yield task, _supposed(task, queries, count, f"{model} {seed}", frames, session, word)


def _pairs(config: Config, grounds: bool, submission: str, moments: Moments, videos: dict[str, dict]) -> list[Pair]:
    first = read_first_stage(submission, moments)
    durations = [float(videos[video]["duration"]) for video in moments.videos]
    if grounds:
        return pairs_to_ground(first, moments, durations, config.retrieval.grounder.videos)
    return pairs_to_grade(first, durations, config.retrieval.reranker.moments)


def _supposed(
    task: Task, queries: list[int], count: int, stage: str, frames: int, session: Session, word: str
) -> list[Call]:
    calls = []
    for query in queries:
        slots = {"caption": words(CAPTION_TOKENS, f"{query % 2**64:016x}"), "duration": f"{USUAL_SECONDS:g}"}
        slots |= {"frame_number": str(frames)} | ({"continuation": word} if word else {})
        calls += [session.call(task, slots, media=(f"unknown: {stage}, {number}",)) for number in range(count)]
    return calls
