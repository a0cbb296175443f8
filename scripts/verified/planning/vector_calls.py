"""Calls of the role `embed` that a run would make, for a quote."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from verified.benchmark.vcmr.paths import possible_runs
from verified.config import Config
from verified.config.features import EMBED
from verified.config.folders import dataset_folder, shown_datasets
from verified.config.outputs import moments as moments_file
from verified.features.embedded import piece_calls
from verified.io.jsonl import iterate_jsonl
from verified.lmm.client import Call
from verified.lmm.embedding import embed_settings, text_calls
from verified.lmm.session import Session
from verified.lmm.tasks import words
from verified.tables.layout import runs

CAPTION_TOKENS = 24
"""Assumed tokens of a fine caption that does not exist yet."""


def embeds_videos(config: Config, name: str) -> bool:
    """Whether a run ranks the videos of a data set by vectors."""
    return config.retrieval.dense and name in shown_datasets(config, "has_videos")


def embeds_captions(config: Config, name: str) -> bool:
    """Whether the text features of a data set are vectors of the role `embed`."""
    trained = runs(config.retrieval.models)
    return config.features.text_encoder == EMBED and bool(possible_runs(config, name, trained))


def caption_calls(
    name: str, config: Config, shards: Iterable[tuple[list[dict], dict[str, dict]]], session: Session
) -> Iterator[Call]:
    """The calls for the text features of a data set, with examples for fine captions that do not exist yet."""
    folder = dataset_folder(config, name)
    needed = {captions for run in possible_runs(config, name, runs(config.retrieval.models)) for captions in run[1:]}
    fine = [captions for captions in ("fig", "fig-lowest") if captions in needed]
    written = {
        captions: {
            row["desc_id"]: row["fig_desc"]
            for file in sorted(Path(folder, "annotations", captions).glob("*.jsonl"))
            for row in iterate_jsonl(file)
        }
        for captions in fine
    }
    for moments, _ in shards:
        if "cog" in needed:
            yield from text_calls([row["caption"] for row in moments], session)
        for captions in fine:
            known = written[captions]
            supposed = (f"{row['desc_id'] % 2**60:012x}{captions[-4:]:>4}" for row in moments)
            texts = [
                known.get(row["desc_id"]) or words(CAPTION_TOKENS, example) for row, example in zip(moments, supposed)
            ]
            yield from text_calls(texts, session)


def tested_moments(
    name: str, config: Config, shards: Iterable[tuple[list[dict], dict[str, dict]]]
) -> Iterator[tuple[list[dict], dict[str, dict]]]:
    """The shards with only the moments of the test split; all moments if there are no splits yet."""
    split, divided = config.datasets[name].spans.test_split, Path(moments_file(dataset_folder(config, name)))
    splits = {row["desc_id"]: row["split"] for row in iterate_jsonl(divided)} if divided.is_file() else {}
    for moments, videos in shards:
        yield [row for row in moments if (splits.get(row["desc_id"]) or row.get("split") or split) == split], videos


def vector_calls(
    name: str, config: Config, shards: Iterable[tuple[list[dict], dict[str, dict]]], session: Session
) -> Iterator[Call]:
    """The calls that `rank_dense` needs of a data set: pieces of its test videos, and their captions.

    `shards`: moments, and their videos or examples of them. The length of an unprobed video is estimated from its
    moments.
    """
    split, settings = config.datasets[name].spans.test_split, embed_settings(session.settings)
    annotated = Path(dataset_folder(config, name), "annotations", "fig", f"{split}.jsonl")
    written = {row["desc_id"]: row["fig_desc"] for row in iterate_jsonl(annotated)} if annotated.is_file() else {}
    for tested, videos in tested_moments(name, config, shards):
        latest: dict[str, float] = {}
        for row in tested:
            latest[row["video"]] = max(latest.get(row["video"], 0.0), row["end"])
        shown = {video: {"duration": end, **videos[video]} for video, end in sorted(latest.items())}
        yield from (call for _, call in piece_calls(shown, settings, session))
        captions = [
            written.get(row["desc_id"]) or words(CAPTION_TOKENS, f"{row['desc_id'] % 2**64:016x}") for row in tested
        ]
        yield from text_calls(captions, session)
