"""Calls of the role `embed` that a run would make, for a quote."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from verified.benchmark.vcmr.jobs import possible_runs
from verified.config import Config
from verified.config.features import EMBED
from verified.config.folders import dataset_folder
from verified.io.jsonl import iterate_jsonl
from verified.lmm.client import Call
from verified.lmm.embedding import text_calls
from verified.lmm.session import Session
from verified.lmm.tasks import words
from verified.tables.layout import runs

CAPTION_TOKENS = 24
"""Assumed tokens of a fine caption that does not exist yet."""


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
