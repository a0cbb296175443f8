"""Calls of the rows without training that a run would make, for a quote."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from verified.benchmark.vcmr.data import Moments, read_moments
from verified.config import Config
from verified.config.folders import dataset_folder, shown_datasets
from verified.io.jsonl import iterate_jsonl
from verified.layout import Layout
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks import Task, words
from verified.lmm.tasks.embedding import EMBEDDING
from verified.stage import CAPTION_TOKENS, Shard, supposed_videos
from verified_field.config import Rows
from verified_field.embedded import piece_calls
from verified_field.embedding import embed_settings, text_calls
from verified_field.grounding import Pair, pair_calls, pairs_to_grade, pairs_to_ground, read_first_stage
from verified_field.runs import GROUNDED, follow_ups
from verified_field.tasks import GROUND, follow_up_tasks

USUAL_SECONDS = 10.0
"""Assumed length of a moment that no first stage has found yet, in seconds."""


def ask_of(name: str, settings: Config, shards: Sequence[Shard], session: Session) -> None:
    """Ask the calls about a data set: vectors, then those of the grounder and the re-ranker."""
    if name not in shown_datasets(settings, "has_videos"):
        return
    section = settings.section(Rows)
    if section.dense:
        calls = [*vector_calls(name, settings, shards, session)]
        session.ask(EMBEDDING, calls, len(calls))
    for task in follow_up_tasks(section):
        calls = [*follow_up_calls(name, settings, task, shards, session)]
        session.ask(task, calls, len(calls))


def tested_moments(name: str, config: Config, shards: Iterable[Shard]) -> Iterator[Shard]:
    """The shards with only the moments of the test split; all moments if there are no splits yet."""
    split, divided = config.datasets[name].spans.test_split, Path(Layout(config).path(Layout.moments, name))
    splits = {row["desc_id"]: row["split"] for row in iterate_jsonl(divided)} if divided.is_file() else {}
    for moments, videos in shards:
        yield [row for row in moments if (splits.get(row["desc_id"]) or row.get("split") or split) == split], videos


def vector_calls(name: str, config: Config, shards: Iterable[Shard], session: Session) -> Iterator[Call]:
    """The calls that `rank_dense` needs of a data set: pieces of its test videos, and their captions.

    The length of an unprobed video is estimated from its moments.
    """
    split, settings = config.datasets[name].spans.test_split, embed_settings(session.settings)
    annotated = Path(dataset_folder(config, name), "annotations", "fig", f"{split}.jsonl")
    written = {row["desc_id"]: row["fig_desc"] for row in iterate_jsonl(annotated)} if annotated.is_file() else {}
    for tested, videos in tested_moments(name, config, shards):
        probed, latest = supposed_videos(tested) | videos, dict[str, float]()
        for row in tested:
            latest[row["video"]] = max(latest.get(row["video"], 0.0), row["end"])
        video_rows = {video: {"duration": end, **probed[video]} for video, end in sorted(latest.items())}
        yield from (call for _, call in piece_calls(video_rows, settings, session))
        captions = [
            written.get(row["desc_id"]) or words(CAPTION_TOKENS, f"{row['desc_id'] % 2**64:016x}") for row in tested
        ]
        yield from text_calls(captions, session)


def follow_up_calls(name: str, config: Config, task: Task, shards: Sequence[Shard], session: Session) -> Iterator[Call]:
    """The calls of a task after each first stage and training; exact once the first stage has been tested.

    Otherwise the configuration's maximum per query: K videos and the true one, N moments of all videos and N of the
    true one. Trainings share pairs, so a run makes fewer calls.
    """
    layout, spans, section = Layout(config), config.datasets[name].spans, config.section(Rows)
    test = Path(layout.path(layout.annotations, name, kind="fig", split=spans.test_split))
    videos = {video: row for _, rows in shards for video, row in rows.items()}
    queries = [row["desc_id"] for moments, _ in tested_moments(name, config, shards) for row in moments]
    grounds = task is GROUND
    frames = section.grounder.frames if grounds else section.reranker.frames
    for model, trained_on, seeds in follow_ups(config):
        first, _, step = model.rpartition("-")
        if (step == GROUNDED) != grounds:
            continue
        for seed in seeds:
            run = layout.path(layout.test, name, model=first, trained_on=trained_on, seed=seed, tested_on="fig")
            submission = Path(run, "submission.json.gz")
            moments = read_moments(test, "fig") if test.is_file() and submission.is_file() else None
            if moments is not None and all(video in videos for video in moments.videos):
                pairs = _pairs(config, grounds, str(submission), moments, videos)
                yield from pair_calls(task, pairs, moments, videos, frames, session)
            else:
                count = section.grounder.videos + 1 if grounds else 2 * section.reranker.moments
                yield from _supposed(task, queries, count, f"{model} {seed}", frames, session)


def _pairs(config: Config, grounds: bool, submission: str, moments: Moments, videos: dict[str, dict]) -> list[Pair]:
    first = read_first_stage(submission, moments)
    durations = [float(videos[video]["duration"]) for video in moments.videos]
    if grounds:
        return pairs_to_ground(first, moments, durations, config.section(Rows).grounder.videos)
    return pairs_to_grade(first, durations, config.section(Rows).reranker.moments)


def _supposed(task: Task, queries: list[int], count: int, stage: str, frames: int, session: Session) -> list[Call]:
    calls = []
    for query in queries:
        slots = {"caption": words(CAPTION_TOKENS, f"{query % 2**64:016x}"), "duration": f"{USUAL_SECONDS:g}"}
        slots["frame_number"] = str(frames)
        calls += [session.call(task, slots, media=(f"unknown: {stage}, {number}",)) for number in range(count)]
    return calls
